package rest

import (
	"net/http"
	"net/url"
	"strconv"
	"strings"

	"catena/engine"
	"catena/storage/fault"
)

// uploadRoutes are the addresses of batches, and of conversions.
func uploadRoutes() []route {
	return append(conversionRoutes(), []route{
		{method: "POST", path: "/upload", body: noBody, op: "Upload.Open", status: http.StatusCreated, gives: "Batch"},
		{method: "GET", path: "/upload/handlers", op: "Upload.Handlers"},
		{method: "GET", path: "/upload/handlers/:name", op: "Upload.Handler"},
		{method: "POST", path: "/upload/new/:name", body: noBody, handle: openBatchWith, op: "Upload.Open", gives: "BatchInfo"},
		{method: "GET", path: "/upload/:batch", handle: listBatch, op: "Upload.List", or: http.StatusNoContent, gives: "UploadedFiles"},
		{method: "DELETE", path: "/upload/:batch", op: "Upload.Drop"},
		{method: "POST", path: "/upload/:batch/execute/:op", body: callBody, handle: executeBatch, or: http.StatusNoContent, says: "Runs an operation with the files of a batch as its input, and ends the batch."},
		{method: "GET", path: "/upload/:batch/info", op: "Upload.Describe", gives: "BatchInfo"},
		{method: "POST", path: "/upload/:batch/refreshToken", body: noBody, handle: refreshToken, gives: "none", says: "Is for handlers that have others take the bytes; that of this server needs it not and refuses."},
		{method: "GET", path: "/upload/:batch/:idx", handle: uploadedFile, op: "Upload.File", or: http.StatusAccepted, gives: "UploadedFile"},
		{method: "POST", path: "/upload/:batch/:idx", body: fileBody, handle: uploadFile, op: "Upload.Put", status: http.StatusCreated, or: http.StatusAccepted, gives: "UploadedFile"},
		{method: "DELETE", path: "/upload/:batch/:idx", op: "Upload.DropFile", params: batchParams},
		{method: "POST", path: "/upload/:batch/:idx/complete", body: noBody, handle: completeUpload, gives: "none", says: "Is for handlers that let others take the bytes; that of this server needs it not and refuses."},
		{method: "POST", path: "/upload/:batch/:idx/execute/:op", body: callBody, handle: executeBatch, or: http.StatusNoContent, says: "Runs an operation with one file of a batch as its input, and ends the batch."},
	}...)
}

// batchParams reads the batch, and the number of a file if the address has one.
func batchParams(x *exchange) (values, error) {
	batch, err := x.param("batch")
	if err != nil {
		return nil, err
	}
	out := values{"batch": batch}
	if text := x.ps.get("idx"); text != "" {
		if out["fileIdx"], err = number("file index", text); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// number reads a number that is not negative.
func number(what, text string) (int, error) {
	n, err := strconv.Atoi(strings.TrimSpace(text))
	if err != nil || n < 0 {
		return 0, fault.Invalid.Errorf("%s %q: a number expected", what, text)
	}
	return n, nil
}

// openBatchWith opens a batch of a handler and describes it.
func openBatchWith(x *exchange) error {
	name, err := x.param("name")
	if err != nil {
		return err
	}
	opened, err := x.quiet("Upload.Open", values{"handler": name})
	if err != nil {
		return err
	}
	batch, _ := opened.(map[string]any)
	return x.run(engine.Call{Op: "Upload.Describe", Params: values{"batch": batch["batchId"]}}, reply{status: http.StatusOK, bare: true})
}

// listBatch lists the files of a batch; of an empty one there is nothing to say.
func listBatch(x *exchange) error {
	params, err := batchParams(x)
	if err != nil {
		return err
	}
	return x.run(engine.Call{Op: "Upload.List", Params: params}, reply{bare: true, choose: func(v any) int {
		if files, _ := v.([]any); len(files) == 0 {
			return http.StatusNoContent
		}
		return http.StatusOK
	}})
}

// uploadedFile describes a file; one with missing chunks is only accepted so far.
func uploadedFile(x *exchange) error {
	params, err := batchParams(x)
	if err != nil {
		return err
	}
	return x.run(engine.Call{Op: "Upload.File", Params: params}, reply{bare: true, choose: whole(http.StatusOK)})
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
func uploadFile(x *exchange) error {
	params, err := batchParams(x)
	if err != nil {
		return err
	}
	if typ, _ := mediaType(x.r.Header); strings.HasPrefix(typ, "multipart/") {
		return fault.Invalid.Errorf("body: multipart is not accepted, only the bytes of the file")
	}
	if err := chunkParams(x.r.Header, params); err != nil {
		return err
	}
	if x.r.ContentLength > x.blobLimit() {
		return tooLarge("file", x.blobLimit())
	}
	// Who may not upload there is told before the bytes come.
	if _, err := x.quiet("Upload.Check", values{"batch": params["batch"]}); err != nil {
		return err
	}
	b, done, err := x.takePart(params)
	if err != nil {
		return err
	}
	defer done()
	x.bodyRead()
	call := engine.Call{Op: "Upload.Put", Input: b, Params: params}
	return x.run(call, reply{bare: true, files: []*engine.Blob{b}, choose: whole(http.StatusCreated)})
}

// takePart takes in the body of a request as what its parameters say. Only what has a digest of its own
// tells two requests with one idempotency key apart.
func (x *exchange) takePart(params values) (*engine.Blob, func(), error) {
	batch, _ := params["batch"].(string)
	var p engine.Part
	p.Name, _ = params["name"].(string)
	p.Type, _ = params["type"].(string)
	p.Index, _ = params["fileIdx"].(int)
	p.Count, p.Chunked = params["chunkCount"].(int)
	p.Chunk, _ = params["chunkIndex"].(int)
	size := x.r.ContentLength
	if x.r.Header.Get("Idempotency-Key") != "" {
		size = -1
	}
	b, done, err := x.engine.TakePart(x.r.Context(), x.as, batch, p, x.moving(), size, x.blobLimit())
	if fault.Is(err, fault.Limit) {
		err = tooLarge("file", x.blobLimit())
	}
	return b, done, err
}

// chunkParams reads what headers say about a file.
func chunkParams(h http.Header, into values) error {
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
		return fault.Invalid.Errorf("X-Upload-Type %q: normal or chunked expected", kind)
	}
	n, err := number("X-Upload-Chunk-Count", count)
	if err != nil {
		return err
	}
	if n == 0 {
		return fault.Invalid.Errorf("X-Upload-Chunk-Count 0: there is at least one chunk")
	}
	into["chunkCount"] = n
	if size := h.Get("X-File-Size"); size != "" {
		if into["fileSize"], err = number("X-File-Size", size); err != nil {
			return err
		}
	}
	into["chunkIndex"], err = number("X-Upload-Chunk-Index", h.Get("X-Upload-Chunk-Index"))
	return err
}

// fileName decodes a file name, which is percent-encoded UTF-8 or raw, without folders.
func fileName(text string) string {
	if decoded, err := url.PathUnescape(text); err == nil {
		text = decoded
	}
	text = strings.ToValidUTF8(text, "\uFFFD")
	return text[strings.LastIndexAny(text, `/\`)+1:]
}

// executeBatch runs an operation with the files of a batch, or one of them, as its input.
func executeBatch(x *exchange) error {
	params, err := batchParams(x)
	if err != nil {
		return err
	}
	name, err := x.param("op")
	if err != nil {
		return err
	}
	input := func(c *engine.Ctx) (any, error) { return c.Call("Upload.Content", nil, params) }
	call, re, err := x.automationCall(name, input)
	if err != nil {
		return err
	}
	if !x.keepsUploads() && !x.flag("dryRun") {
		re.then = func() { x.forget(params["batch"]) }
	}
	return x.run(call, re)
}

// forget ends a batch that was used. If that fails it ends by itself in a day.
func (x *exchange) forget(batch any) {
	_, err := x.quiet("Upload.Drop", values{"batch": batch})
	if err != nil && !fault.Is(err, fault.NotFound) && !gone(x.r.Context(), err) {
		x.report(statusOf(err), "batch was used and stays", err)
	}
}

// quiet runs an operation whose result is not the answer.
func (x *exchange) quiet(op string, params values) (any, error) {
	res, err := x.engine.Run(x.r.Context(), engine.Call{Op: op, Params: params, As: x.as, Door: x.door(), RequestID: x.id})
	if err != nil {
		return nil, err
	}
	return res.Value, nil
}

// completeUpload is for handlers that let others take the bytes.
func completeUpload(x *exchange) error {
	params, err := batchParams(x)
	if err == nil {
		_, err = x.quiet("Upload.File", params)
	}
	if err != nil {
		return err
	}
	return fault.Conflict.Errorf("batch %s: files of its handler are complete by themselves", params["batch"])
}

// refreshToken is for handlers that have others take the bytes.
func refreshToken(x *exchange) error {
	params, err := batchParams(x)
	if err == nil {
		_, err = x.quiet("Upload.Check", params)
	}
	if err != nil {
		return err
	}
	return fault.Unavailable.Errorf("batch %s: its handler has no token", params["batch"]).WithCode(fault.CodeNotSupported)
}
