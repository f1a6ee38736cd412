package pdf

import (
	"testing"

	"catena/engine"
	"catena/ops/opstest"
	"catena/storage"
)

// TestProtectedFiles: what a password opens, and what it does not.
func TestProtectedFiles(t *testing.T) {
	w, plain := opstest.New(t), letter(t, "p", 2)
	bits := protection{Bits: "128", Xpath: "file:content"}
	w.Do("bob", func(c *engine.Ctx) error {
		open, err := encryptReadOnlyParams{protection: bits, Owner: "owner"}.blob(c, plain)
		if err != nil {
			return err
		}
		shut, err := encryptParams{protection: bits, Owner: "owner", User: "user"}.blob(c, plain)
		if err != nil {
			return err
		}
		same(t, "anybody opens it", words(c, open, nil), "p.pdf 2: p1 p2")
		for _, x := range []struct {
			name string
			b    *storage.Blob
			word string
			want string
		}{
			{"open, owner", open, "owner", "p.pdf 2: p1 p2"},
			{"open, none", open, "", "! …"},
			{"open, another", open, "Owner", "! …"},
			{"shut, owner", shut, "owner", "p.pdf 2: p1 p2"},
			{"shut, user", shut, "user", "! …"}, // opens it, and no more
			{"shut, none", shut, "", "! …"},
			{"plain, any", plain, "any", "p.pdf 2: p1 p2"},
		} {
			made, err := removeEncryptionParams{Owner: x.word}.blob(c, x.b)
			same(t, x.name, words(c, made, err), x.want)
		}
		same(t, "without a password", words(c, shut, nil), "! …")
		_, err = mergeParams{}.blobs(c, storage.Blobs{plain, open})
		same(t, "merged", words(c, nil, err), "! …")
		same(t, "page", pageOf(c, open, ""), "1: p1…")
		same(t, "page, user", pageOf(c, shut, "user"), "! …") // copying is not permitted
		same(t, "page, owner", pageOf(c, shut, "owner"), "1: p1…")
		same(t, "page, none", pageOf(c, shut, ""), "! …")
		again, err := encryptParams{protection: bits, Original: "owner", User: "other"}.blob(c, shut)
		if err != nil {
			return err
		}
		// The owner's stays, the other is replaced.
		made, err := removeEncryptionParams{Owner: "owner"}.blob(c, again)
		same(t, "again", words(c, made, err), "p.pdf 2: p1 p2")
		_, err = encryptParams{protection: bits, Original: "wrong", Owner: "new"}.blob(c, shut)
		same(t, "by somebody else", words(c, nil, err), "! …")
		return nil
	})
}

func pageOf(c *engine.Ctx, b *storage.Blob, password string) string {
	made, err := extractPagesParams{First: 1, Last: 1, Password: password}.blob(c, b)
	if err != nil {
		return told(err)
	}
	// What is cut out of a file with an owner may be protected as that is.
	text, err := c.PDF().Text(c, made, password)
	if err != nil {
		return told(err)
	}
	return "1: " + text
}

func TestPasswordsThatAreWrong(t *testing.T) {
	w, b := opstest.New(t), letter(t, "p", 1)
	const letters32 = "0123456789abcdef0123456789abcdef"
	w.Do("bob", func(c *engine.Ctx) error {
		for _, x := range []struct{ owner, user, bits, want string }{
			{letters32, "", "128", "p.pdf 1: p1"},
			{letters32 + "0", "", "128", "! invalid ownerPwd: ownerPwd: …"},
			{"o", letters32 + "0", "128", "! invalid userPwd: userPwd: …"},
			{"ö", "", "128", "! invalid ownerPwd: ownerPwd: …"},
			{"o", "日", "128", "! invalid userPwd: userPwd: …"},
			{"o", "\x00", "128", "! invalid userPwd: userPwd: …"},
			{"", "", "128", "! invalid ownerPwd: ownerPwd: is required without originalOwnerPwd"},
			{"", "user", "128", "! invalid ownerPwd: ownerPwd: is required without originalOwnerPwd"},
			{"o", "", "40", "p.pdf 1: p1"},
			{"o", "", "many", "! invalid keyLength: keyLength: …"},
		} {
			made, err := encryptReadOnlyParams{protection: protection{Bits: x.bits}, Owner: x.owner, User: x.user}.blob(c, b)
			same(t, x, words(c, made, err), x.want)
		}
		return nil
	})
}

func TestPermissionsOfFiles(t *testing.T) {
	for _, x := range []struct {
		p    storage.Props
		want string
	}{
		{nil, ""},
		{storage.Props{"print": "false"}, ""},
		{storage.Props{"print": true}, "print printDegraded "},
		{storage.Props{"printDegraded": "true"}, "printDegraded "},
		{storage.Props{"copy": "1", "modify": "TRUE"}, "copy modify "},
		{storage.Props{"Print": "true"}, `! invalid permissions: permissions: unknown permission "Print", perhaps print`},
		{storage.Props{"": "true"}, "! invalid permissions: permissions: unknown permission \"\"…"},
		{storage.Props{"print": "yes"}, "! invalid permissions: permissions: print must be true or false"},
		{storage.Props{"print": nil}, "! invalid permissions: permissions: print must be true or false"},
		{storage.Props{"print": ""}, "! invalid permissions: permissions: print must be true or false"},
	} {
		may, err := allowed(x.p)
		got := ""
		for _, name := range []string{"assemble", "copy", "extractForAccessibility", "fillForms", "modify", "modifyAnnot", "print", "printDegraded"} {
			if may&rights[name] == rights[name] {
				got += name + " "
			}
		}
		if err != nil {
			got = told(err)
		}
		same(t, x.p, got, x.want)
	}
}

func TestWatermarks(t *testing.T) {
	w, b := opstest.New(t), letter(t, "p", 2)
	const offset = ": must be a number between -14400 and 14400"
	w.Do("bob", func(c *engine.Ctx) error {
		for _, x := range []struct {
			text string
			p    storage.Props
			want string
		}{
			{"Draft", nil, "p.pdf 2: p1 Draft p2 Draft"},
			{"Größe 5 €", nil, "p.pdf 2: p1 Größe 5 € p2 Größe 5 €"},
			{"Draft", storage.Props{"alphaColor": "0"}, "p.pdf 2: …"},
			{"Draft", storage.Props{"alphaColor": " 1 "}, "p.pdf 2: p1 Draft p2 Draft"},
			{"Draft", storage.Props{"alphaColor": "1.01"}, "! invalid properties: properties: alphaColor: must be a number between 0 and 1"},
			{"Draft", storage.Props{"alphaColor": "-0.01"}, "! invalid properties: properties: alphaColor: must be a number between 0 and 1"},
			{"Draft", storage.Props{"alphaColor": "NaN"}, "! invalid properties: properties: alphaColor: must be a number between 0 and 1"},
			{"Draft", storage.Props{"alphaColor": nil}, "! invalid properties: properties: alphaColor: must be a number between 0 and 1"},
			{"Draft", storage.Props{"xPosition": "14401"}, "! invalid properties: properties: xPosition" + offset},
			{"Draft", storage.Props{"yPosition": "-Inf"}, "! invalid properties: properties: yPosition" + offset},
			{"Draft", storage.Props{"xPosition": "-14400", "yPosition": 14400.0}, "p.pdf 2: …"},
			{"Draft", storage.Props{"rotation": "360"}, "p.pdf 2: …"},
			{"Draft", storage.Props{"rotation": "-361"}, "! invalid properties: properties: rotation: must be a number between -360 and 360"},
			{"Draft", storage.Props{"fontSize": "0"}, "! invalid properties: properties: fontSize: must be more than 0 and at most 1000"},
			{"Draft", storage.Props{"fontSize": "1000"}, "p.pdf 2: …"},
			{"Draft", storage.Props{"fontSize": "1001"}, "! invalid properties: properties: fontSize: must be a number between 0 and 1000"},
			{"Draft", storage.Props{"fontFamily": ""}, "! invalid properties: properties: fontFamily: unknown standard font …"},
			{"Draft", storage.Props{"relativeCoordinates": "true", "xPosition": "1", "yPosition": 0.0}, "p.pdf 2: …"},
			{"Draft", storage.Props{"relativeCoordinates": "true", "xPosition": "1.001"}, "! invalid properties: properties: xPosition: must be between 0 and 1"},
			{"Draft", storage.Props{"relativeCoordinates": "2"}, "! invalid properties: properties: relativeCoordinates: must be true or false"},
			{"Draft", storage.Props{"scale": "2"}, `! invalid properties: properties: unknown value "scale"…`}, // is for pictures
			{"日本", nil, "! invalid text: text: …"},
			{"", nil, "p.pdf 2: p1 p2"},
		} {
			made, err := watermarkTextParams{Text: x.text, Properties: x.p}.run(c, b)
			same(t, x, words(c, made, err), x.want)
		}
		return nil
	})
}

func TestBackgrounds(t *testing.T) {
	w := opstest.New(t)
	one, two, three := letter(t, "a", 1), letter(t, "b", 2), letter(t, "c", 3)
	text := engine.NewBlob("a.txt", "text/plain", []byte("a"))
	w.Do("bob", func(c *engine.Ctx) error {
		for _, x := range []struct {
			name    string
			b, over *storage.Blob
			want    string
		}{
			{"one behind three", three, one, "c.pdf 3: …"},
			{"three behind one", one, three, "a.pdf 1: …"},
			{"none", one, nil, "! invalid overlayPdf: overlayPdf: …"},
			{"a text", one, text, "! invalid overlayPdf: overlayPdf: must be PDF files"},
			{"to a text", text, two, "! invalid input: input: must be PDF files"},
		} {
			made, err := watermarkPDFParams{Overlay: x.over}.run(c, x.b)
			same(t, x.name, words(c, made, err), x.want)
		}
		_, err := watermarkImageParams{}.run(c, one)
		same(t, "no picture", words(c, nil, err), "! invalid image: image: must be a JPEG or PNG file")
		_, err = watermarkImageParams{Image: text}.run(c, one)
		same(t, "a text as picture", words(c, nil, err), "! invalid …")
		_, err = watermarkImageParams{Image: text, Properties: storage.Props{"scale": "0"}}.run(c, one)
		same(t, "no size", words(c, nil, err), "! invalid properties: properties: scale: must be a number between 0.001 and 1000")
		return nil
	})
}
