package document

import (
	"net/http"
	"net/url"
	"regexp"
	"strings"

	"catena/engine"
	"catena/rest"
	"catena/storage/fault"
	"catena/storage/upload"
)

// uploadRoutes are the addresses of batches, and of conversions.
func uploadRoutes() []rest.Route {
	return append(conversionRoutes(), []rest.Route{
		{Method: "POST", Path: "/upload", Body: rest.NoBody, Op: "Upload.Open", Status: http.StatusCreated, Gives: "Batch"},
		{Method: "GET", Path: "/upload/handlers", Op: "Upload.Handlers", Gives: "UploadHandlers"},
		{Method: "GET", Path: "/upload/handlers/:name", Op: "Upload.Handler", Gives: "UploadHandler"},
		{Method: "POST", Path: "/upload/new/:name", Body: rest.NoBody, Handle: openBatchWith, Op: "Upload.Open", Gives: "BatchInfo"},
		{Method: "GET", Path: "/upload/:batch", Handle: listBatch, Op: "Upload.List", Or: http.StatusNoContent, Gives: "UploadedFiles"},
		{Method: "DELETE", Path: "/upload/:batch", Op: "Upload.Drop"},
		{Method: "POST", Path: "/upload/:batch/execute/:op", Body: rest.CallBody, Handle: executeBatch, Or: http.StatusNoContent, Says: "Runs an operation with the files of a batch as its input, and deletes the batch."},
		{Method: "GET", Path: "/upload/:batch/info", Op: "Upload.Describe", Gives: "BatchInfo"},
		{Method: "POST", Path: "/upload/:batch/refreshToken", Body: rest.NoBody, Handle: refreshToken, Gives: "none", Says: "For handlers that store the bytes elsewhere; the handler of this server does not and refuses it."},
		{Method: "GET", Path: "/upload/:batch/:idx", Handle: uploadedFile, Op: "Upload.File", Or: http.StatusAccepted, Gives: "UploadedFile"},
		{Method: "POST", Path: "/upload/:batch/:idx", Body: rest.FileBody, Handle: uploadFile, Op: "Upload.Put", Status: http.StatusCreated, Or: http.StatusAccepted, Gives: "UploadedFile"},
		{Method: "DELETE", Path: "/upload/:batch/:idx", Op: "Upload.DropFile", Params: batchParams},
		{Method: "POST", Path: "/upload/:batch/:idx/complete", Body: rest.NoBody, Handle: completeUpload, Gives: "none", Says: "For handlers that store the bytes elsewhere; the handler of this server does not and refuses it."},
		{Method: "POST", Path: "/upload/:batch/:idx/execute/:op", Body: rest.CallBody, Handle: executeBatch, Or: http.StatusNoContent, Says: "Runs an operation with one file of a batch as its input, and deletes the batch."},
	}...)
}

// batchParams reads the batch, and the number of a file if the address has one.
func batchParams(x *rest.Request) (rest.Values, error) {
	batch, err := x.Param("batch")
	if err != nil {
		return nil, err
	}
	out := rest.Values{"batch": batch}
	if text := x.Segments.Get("idx"); text != "" {
		if out["fileIdx"], err = rest.Number("file index", text); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// openBatchWith opens a batch of a handler and describes it.
func openBatchWith(x *rest.Request) error {
	name, err := x.Param("name")
	if err != nil {
		return err
	}
	opened, err := x.Value(engine.Call{Op: "Upload.Open", Params: rest.Values{"handler": name}})
	if err != nil {
		return err
	}
	batch, _ := opened.(map[string]any)
	return x.Run(engine.Call{Op: "Upload.Describe", Params: rest.Values{"batch": batch["batchId"]}}, rest.Reply{Status: http.StatusOK, Bare: true})
}

// listBatch lists the files of a batch; of an empty one there is nothing to say.
func listBatch(x *rest.Request) error {
	params, err := batchParams(x)
	if err != nil {
		return err
	}
	return x.Run(engine.Call{Op: "Upload.List", Params: params}, rest.Reply{Bare: true, Choose: func(v any) int {
		if files, _ := v.([]any); len(files) == 0 {
			return http.StatusNoContent
		}
		return http.StatusOK
	}})
}

// uploadedFile describes a file; one with missing chunks is only accepted so far.
func uploadedFile(x *rest.Request) error {
	params, err := batchParams(x)
	if err != nil {
		return err
	}
	return x.Run(engine.Call{Op: "Upload.File", Params: params}, rest.Reply{Bare: true, Choose: whole(http.StatusOK)})
}

// whole returns the status of a file, which is 202 while chunks are missing.
func whole(status int) func(any) int {
	return func(v any) int {
		m, _ := v.(map[string]any)
		if ids, chunked := m["uploadedChunkIds"].([]any); chunked && m["chunkCount"] != len(ids) {
			return http.StatusAccepted
		}
		return status
	}
}

// uploadFile takes the body of the request in as a file or as a chunk of one.
func uploadFile(x *rest.Request) error {
	params, err := batchParams(x)
	if err != nil {
		return err
	}
	if typ, _ := rest.MediaType(x.HTTP.Header); typ == "multipart/form-data" {
		return fault.Invalid.Errorf("body: must be the bytes of the file, not a form")
	}
	if err := chunkParams(x.HTTP.Header, params); err != nil {
		return err
	}
	if x.HTTP.ContentLength > x.BlobLimit() {
		return rest.TooLarge("file", x.BlobLimit())
	}
	// Who may not upload there is told before the bytes come.
	if _, err := x.Value(engine.Call{Op: "Upload.Check", Params: rest.Values{"batch": params["batch"]}}); err != nil {
		return err
	}
	b, done, err := takePart(x, params)
	if err != nil {
		return err
	}
	defer done()
	x.BodyRead()
	call := engine.Call{Op: "Upload.Put", Input: b, Params: params}
	return x.Run(call, rest.Reply{Bare: true, Files: []*engine.Blob{b}, Choose: whole(http.StatusCreated)})
}

// takePart takes in the body of a request as what its parameters say. Only what has a digest of its own
// tells two requests with one idempotency key apart.
func takePart(x *rest.Request, params rest.Values) (*engine.Blob, func(), error) {
	batch, _ := params["batch"].(string)
	var p upload.Part
	p.Name, _ = params["name"].(string)
	p.Type, _ = params["type"].(string)
	p.Index, _ = params["fileIdx"].(int)
	p.Count, p.Chunked = params["chunkCount"].(int)
	p.Chunk, _ = params["chunkIndex"].(int)
	size := x.HTTP.ContentLength
	if x.HTTP.Header.Get("Idempotency-Key") != "" {
		size = -1
	}
	b, done, err := upload.Take(x.HTTP.Context(), x.Engine.Repo(), x.As, &upload.Incoming{Batch: batch, Part: p, Body: x.Moving(), Size: size, Max: x.BlobLimit()})
	if fault.Is(err, fault.Limit) {
		err = rest.TooLarge("file", x.BlobLimit())
	}
	return b, done, err
}

// chunkParams reads what headers say about a file.
func chunkParams(h http.Header, into rest.Values) error {
	if name := h.Get("X-File-Name"); name != "" {
		into["name"] = fileName(name)
	}
	if typ := h.Get("X-File-Type"); typ != "" && typ != "undefined" && typ != "null" {
		into["type"] = typ
	}
	count := h.Get("X-Upload-Chunk-Count")
	switch kind := strings.ToLower(h.Get("X-Upload-Type")); {
	case kind == "chunked" || kind == "" && count != "":
	case kind == "" || kind == "normal":
		return nil
	default:
		return fault.Invalid.Errorf("X-Upload-Type %q: must be normal or chunked", kind)
	}
	n, err := rest.Number("X-Upload-Chunk-Count", count)
	if err != nil {
		return err
	}
	if n == 0 {
		return fault.Invalid.Errorf("X-Upload-Chunk-Count 0: must be at least 1")
	}
	into["chunkCount"] = n
	if size := h.Get("X-File-Size"); size != "" {
		if into["fileSize"], err = rest.Number("X-File-Size", size); err != nil {
			return err
		}
	}
	into["chunkIndex"], err = rest.Number("X-Upload-Chunk-Index", h.Get("X-Upload-Chunk-Index"))
	return err
}

// windowsPath is how a path on Windows can be told from a name: it has a drive, begins at the top, or leads upwards. Elsewhere, names
// may have backslashes.
var windowsPath = regexp.MustCompile(`^[A-Za-z]:\\|^\\|(?:^|\\)\.\.\\`)

// fileName decodes a file name, which is percent-encoded UTF-8 or raw, without folders.
func fileName(text string) string {
	if decoded, err := url.PathUnescape(text); err == nil {
		text = decoded
	}
	text = strings.ToValidUTF8(text, "\uFFFD")
	text = text[strings.LastIndexByte(text, '/')+1:]
	if windowsPath.MatchString(text) {
		text = text[strings.LastIndexByte(text, '\\')+1:]
	}
	return text
}

// executeBatch runs an operation with the files of a batch, or one of them, as its input.
func executeBatch(x *rest.Request) error {
	params, err := batchParams(x)
	if err != nil {
		return err
	}
	name, err := x.Param("op")
	if err != nil {
		return err
	}
	input := func(c *engine.Ctx) (any, error) { return c.Call("Upload.Content", nil, params) }
	call, re, err := x.ReadCall(name, input)
	if err != nil {
		return err
	}
	if !x.KeepsUploads() && !x.Flag("dryRun") {
		re.Then = func() { forget(x, params["batch"]) }
	}
	return x.Run(call, re)
}

// forget ends a batch that was used. If that fails it ends by itself in a day.
func forget(x *rest.Request, batch any) {
	_, err := x.Value(engine.Call{Op: "Upload.Drop", Params: rest.Values{"batch": batch}})
	if err != nil && !fault.Is(err, fault.NotFound) && !rest.Gone(x.HTTP.Context(), err) {
		x.Report(rest.StatusOf(err), "batch was used but could not be deleted", err)
	}
}

// completeUpload is for handlers that let others take the bytes.
func completeUpload(x *rest.Request) error {
	params, err := batchParams(x)
	if err == nil {
		_, err = x.Value(engine.Call{Op: "Upload.File", Params: params})
	}
	if err != nil {
		return err
	}
	return fault.Conflict.Errorf("batch %s: files of its handler do not need to be completed", params["batch"])
}

// refreshToken is for handlers that have others take the bytes.
func refreshToken(x *rest.Request) error {
	params, err := batchParams(x)
	if err == nil {
		_, err = x.Value(engine.Call{Op: "Upload.Check", Params: params})
	}
	if err != nil {
		return err
	}
	return fault.Unavailable.Errorf("batch %s: its handler has no token", params["batch"]).WithCode(fault.CodeNotSupported)
}
