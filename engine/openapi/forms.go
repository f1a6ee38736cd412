package openapi

import (
	"maps"
	"slices"
	"strings"
	"sync"
)

// pagingMembers are the members that tell where in a list a page is.
const pagingMembers = ` isPaginable:boolean resultsCount:integer pageSize:integer maxPageSize:integer resultsCountLimit:integer currentPageSize:integer
	currentPageIndex:integer currentPageOffset:integer numberOfPages:integer isPreviousPageAvailable:boolean isNextPageAvailable:boolean
	isLastPageAvailable:boolean isSortable:boolean hasError:boolean errorMessage:string? totalSize:integer pageIndex:integer pageCount:integer nextCursor`

// batchWords tell how requests of a batch refer to answers.
const batchWords = "The path, and strings in the body, may contain {$ID#POINTER}, where ID is the id of an earlier request and POINTER a JSON Pointer" +
	" (RFC 6901) into its response, such as {$create#/uid}: the value replaces it, in the path as one segment or one value of the query. A string that is" +
	" nothing else becomes the value itself, which may be an object or a list."

// Forms are the schemas of what goes over the wire, by name. What varies with a document's type, or with what is asked for, is
// an object without more.
func Forms() map[string]any { return maps.Clone(forms()) }

// IsEntity reports whether a value of a schema says with entity-type what it is.
func IsEntity(schema map[string]any) bool {
	if ref, ok := schema["$ref"].(string); ok {
		schema, _ = forms()[strings.TrimPrefix(ref, RefPath)].(map[string]any)
	}
	if all, ok := schema["anyOf"].([]any); ok {
		return !slices.ContainsFunc(all, func(s any) bool { return !IsEntity(s.(map[string]any)) })
	}
	required, _ := schema["required"].([]any)
	return slices.Contains(required, any("entity-type"))
}

// AnyOf is a value of one of several schemas.
func AnyOf(schemas ...map[string]any) map[string]any {
	if len(schemas) == 1 {
		return schemas[0]
	}
	all := make([]any, len(schemas))
	for i, s := range schemas {
		all[i] = s
	}
	return map[string]any{"anyOf": all}
}

// List is a list of values of a schema.
func List(of map[string]any) map[string]any { return map[string]any{"type": "array", "items": of} }

var forms = sync.OnceValue(allForms)

func allForms() map[string]any {
	out := map[string]any{
		"ACP":            entitySchema("acls", "acl:array", ""),
		"Activity":       entitySchema("activity", "id:integer eventId actor comment published:moment began:moment count:integer docUUID docPath docType docTitle", ""),
		"Batch":          entitySchema("", "batchId", "handlers:object"),
		"BatchAnswer":    entitySchema("", "status:integer", "id body:any"),
		"BatchInfo":      entitySchema("", "batchId provider fileEntries:array", ""),
		"BatchInput":     Object("requests", List(Ref("BatchRequest"))),
		"BatchRequest":   withWords(entitySchema("", "method path", "id body:any"), batchWords),
		"BusinessObject": entitySchema("", "entity-type value:object", ""),
		"BooleanValue":   entitySchema("boolean", "value:boolean", ""),
		"BulkStatus": entitySchema("bulkStatus", `commandId state processed:integer skipCount:integer error:boolean errorCount:integer total:integer action username
			processingMillis:integer result:object submitted:moment? scrollStart:moment? scrollEnd:moment? processingStart:moment? processingEnd:moment?
			completed:moment?`, "errorMessage value:any"),
		"Entity":       withWords(openEntity(), "An object that says with entity-type what it is: a value in the member value, or members of its own."),
		"Input":        withWords(openEntity(), "The input, which the operation returns as it is; without an input, it returns nothing."),
		"RecordSet":    entitySchema("recordSet", "entries:array", pagingMembers),
		"StringValue":  entitySchema("string", "value:string?", ""),
		"Call":         entitySchema("", "", "input:any params:object context:object documentProperties"),
		"Capabilities": entitySchema("capabilities", "server:object cluster:object repository:object", ""),
		"Comment": entitySchema("", "entity-type id text:string? author:string? parentId:string? ancestorIds:array creationDate:moment? permissions:array",
			`modificationDate:moment? entityId:string? origin:string? entity:any xpath:string? numberOfReplies:integer lastReplyDate:moment?`),
		"CommentInput":        entitySchema("", "", "text parentId xpath entityId origin entity:any author"),
		"DirectoryEntry":      entitySchema("directoryEntry", "directoryName id properties:object", ""),
		"DirectoryEntryInput": entitySchema("", "properties:object", "directoryName id"),
		"Document": entitySchema("document", `repository uid path:string? type state:string? parentRef:string? isCheckedOut:boolean isRecord:boolean retainUntil:moment?
			hasLegalHold:boolean isUnderRetentionOrLegalHold:boolean isVersion:boolean isProxy:boolean changeToken:string? isTrashed:boolean title facets:array
			schemas:array`, `versionableId proxyTargetId isLatestVersion:boolean isLatestMajorVersion:boolean versionLabel lockOwner lockCreated:moment
			lastModified:moment properties:object contextParameters:object`),
		"Difference":   entitySchema("", "xpath left:any right:any", "added:array removed:array lines"),
		"DocumentSide": entitySchema("", "uid path type title versionLabel isVersion:boolean", ""),
		"DocumentDiff": Object("entity-type", map[string]any{"const": "documentDiff"}, "left", Ref("DocumentSide"), "right", Ref("DocumentSide"),
			"differences", List(Ref("Difference"))),
		"DocumentInput": entitySchema("document", "", "type name properties:object changeToken repository uid path"),
		"Exception": entitySchema("", "status:integer message type title detail code retryable:boolean",
			"instance subject errors:array requestId traceId stacktrace has_error:boolean number:integer violations:array"),
		"Group":      entitySchema("group", "groupname grouplabel:string? id properties:object", "memberUsers:array memberGroups:array parentGroups:array"),
		"GroupInput": entitySchema("", "", "groupname grouplabel:string? id properties:object memberUsers:array memberGroups:array parentGroups:array"),
		"LogEntry": entitySchema("logEntry", `id:integer category:string? principalName:string? comment:string? docLifeCycle:string? docPath:string? docType:string?
			docUUID:string? eventId:string? repositoryId:string? eventDate:moment? logDate:moment? extended:object`, ""),
		"Login":     entitySchema("login", "username", "id isAdministrator:boolean groups:array"),
		"Operation": entitySchema("", "id label category requires:string? description url signature:array params:array", "aliases:array since"),
		"Run": entitySchema("", "id state op user door repository start:moment duration:integer", `version:integer userId:integer requestId remote repeats code error stoppedBy stoppedAt:moment input:any
			params:object context:object left:array trace:object`),
		"SavedSearch": entitySchema("savedSearch", "id title", `query:string? queryLanguage:string? queryParams:any pageProviderName:string? pageSize:any currentPageIndex:any
			maxResults:any sortBy:string? sortOrder:string? params:any contentViewData:string?`),
		"SavedSearchInput": entitySchema("", "", "title query queryLanguage queryParams pageProviderName params:object"),
		"WaitingRun":       entitySchema("", "run chain state user began:moment since:moment for line:integer", "until:moment event done:integer batches:integer failure"),
		"Registry":         entitySchema("", "paths:object codecs:array operations:array chains:array", ""), "Trace": Type("object"),
		"UISession": entitySchema("uiSession", "id", `created:moment modified:moment expires:moment currentDocument:string? outcome tab messages:array events:array
			form:any lists:object documents:object download:any`),
		"User":      entitySchema("user", "id properties:object extendedGroups:array isAdministrator:boolean isAnonymous:boolean", "contextParameters:object"),
		"UserInput": entitySchema("", "properties:object", "id"),
		"File":      map[string]any{"type": "string", "format": "binary", "description": "The content of a file."},
		"Value":     map[string]any{"type": []any{"object", "array", "string", "number", "boolean", "null"}, "description": "What the operation returns, any JSON: the address of the operation itself, below /automation, says more, unless it may return anything."},
	}
	maps.Copy(out, workflowSchemas())
	maps.Copy(out, serverSchemas())
	listSchemas(out)
	return out
}

// listSchemas adds the schemas of lists.
func listSchemas(out map[string]any) {
	out["UploadedFile"] = entitySchema("", "", "name size:any uploadType uploaded batchId fileIdx uploadedSize:any uploadedChunkIds:array chunkCount:integer")
	out["UploadedFiles"] = List(Ref("UploadedFile"))
	for _, list := range []struct{ name, word, of, figures string }{
		{"Activities", "activities", "Activity", " next"},
		{"BatchAnswers", "batch", "BatchAnswer", ""},
		{"Comments", "", "Comment", " totalSize:integer"},
		{"Directories", "directories", "Directory", ""},
		{"DirectoryEntries", "directoryEntries", "DirectoryEntry", pagingMembers},
		{"Documents", "documents", "Document", pagingMembers + " aggregations:any quickFilters:any plan:array"},
		{"Groups", "groups", "Group", pagingMembers},
		{"LogEntries", "logEntries", "LogEntry", pagingMembers},
		{"Runs", "runs", "Run", " before"},
		{"SavedSearches", "savedSearches", "SavedSearch", pagingMembers},
		{"Tasks", "tasks", "Task", pagingMembers},
		{"Tokens", "tokens", "", ""},
		{"Traces", "traces", "", ""},
		{"UISessions", "uiSessions", "UISession", ""},
		{"Users", "users", "User", pagingMembers},
		{"Workflows", "workflows", "Workflow", ""},
	} {
		s := entitySchema(list.word, "entity-type entries:array", list.figures)
		if list.of != "" {
			s["properties"].(map[string]any)["entries"] = List(Ref(list.of))
		}
		out[list.name] = s
	}
}

// openEntity is an entity that may have any members.
func openEntity() map[string]any {
	out := entitySchema("", "", "")
	out["additionalProperties"], out["required"] = true, []any{"entity-type"}
	return out
}

// withWords is a schema with words.
func withWords(schema map[string]any, says string) map[string]any {
	schema["description"] = says
	return schema
}

// entitySchema is the schema of an entity of a type with fields that are always there and others that may be.
func entitySchema(word, always, other string) map[string]any {
	out := Fixed(always, other)
	fields := out["properties"].(map[string]any)
	if fields["entity-type"] = Type("string"); word != "" {
		fields["entity-type"] = map[string]any{"const": word}
		if always != "" && !slices.Contains(out["required"].([]any), any("entity-type")) {
			out["required"] = append(out["required"].([]any), "entity-type")
		}
	}
	return out
}

// serverSchemas are the schemas of what is declared, and of webhooks, jobs and tokens.
func serverSchemas() map[string]any {
	list := func(of string) map[string]any { return List(Ref(of)) }
	return map[string]any{
		"Credential":   entitySchema("", "name kind url changed:moment by revision:integer", "user header tokenUrl description scopes:array chains:array users:array"),
		"Directory":    entitySchema("directory", "name schema idField parent:string?", ""),
		"Delivery":     entitySchema("", "id webhook type state created:moment tries:integer body", "finished:moment status:integer failure"),
		"Deliveries":   list("Delivery"),
		"DocType":      entitySchema("docType", "name parent:string? facets:array schemas:array", ""),
		"DocTypes":     Fields("doctypes:object schemas:object", true),
		"Facet":        entitySchema("facet", "name schemas:array", ""),
		"Facets":       list("Facet"),
		"Job":          entitySchema("", "id kind state due:moment created:moment tries:integer user", "failure"),
		"Jobs":         list("Job"),
		"OAuthToken":   entitySchema("nuxeoOAuth2Token", "isShared:boolean sharedWith:array", "serviceName:string? nuxeoLogin:string? serviceLogin:string? clientId:string? creationDate:moment?"),
		"OAuthTokens":  Object("entity-type", Type("string"), "entries", list("OAuthToken")),
		"OAuthClient":  entitySchema("oauth2Client", "id:string? name:string? secret:string? redirectURIs:array isAutoGrant:boolean? isEnabled:boolean?", ""),
		"OAuthClients": Object("entity-type", Type("string"), "entries", list("OAuthClient")),
		"OAuthGrant":   Fields("access_token refresh_token token_type expires_in:integer", true),
		"OAuthProvider": entitySchema("nuxeoOAuth2ServiceProvider", `serviceName:string? description:string? clientId:string? clientSecret:string? authorizationServerURL:string?
			tokenServerURL:string? userAuthorizationURL:string? scopes:array isEnabled:boolean?`, ""),
		"OAuthProviders":      Object("entity-type", Type("string"), "entries", list("OAuthProvider")),
		"Aggregations":        entitySchema("", "timed_out:boolean hits:object", "aggregations:object"),
		"ConversionScheduled": entitySchema("conversionScheduled", "conversionId pollingURL resultURL", ""),
		"ConversionStatus":    entitySchema("conversionStatus", "conversionId status resultURL", ""),
		"Description":         Fields("openapi info:object servers:array security:array paths:object components:object", true),
		"Health":              map[string]any{"type": "object", "additionalProperties": Type("string"), "description": "The state of each dependency: ok, degraded or failed."},
		"PageProvider":        entitySchema("", "name pageSize:integer sort:array fields:array quickFilters:array", "query"),
		"Repositories":        map[string]any{"type": "object", "additionalProperties": Ref("RepositoryInfo")},
		"RepositoryInfo": Fields(`repositoryId repositoryName repositoryDescription vendorName productName productVersion rootFolderId rootFolderUrl
			repositoryUrl cmisVersionSupported`, true),
		"Started":        map[string]any{"const": true},
		"UploadHandler":  Fields("name", true),
		"UploadHandlers": Object("handlers", list("UploadHandler")),
		"Schema":         entitySchema("schema", "name prefix @prefix fields:object", "fieldOrder:array"),
		"Schemas":        list("Schema"),
		"UsersAndGroups": entitySchema("documents", "entries:array", pagingMembers),
		"Webhook":        entitySchema("", "id owner url description events:array enabled:boolean created:moment updated:moment failures:integer", "failingSince:moment reason secret"),
		"Webhooks":       list("Webhook"),
	}
}

// workflowSchemas are the schemas of workflows and tasks.
func workflowSchemas() map[string]any {
	return map[string]any{
		"Graph": entitySchema("graph", "nodes:array transitions:array", ""),
		"Task": entitySchema("task", `id name:string? state directive:string? created:moment? dueDate:moment? nodeName workflowInstanceId:string? workflowModelName:string?
			workflowInitiator:any workflowTitle:string? workflowLifeCycleState:string? graphResource:string? targetDocumentIds:array actors:array
			delegatedActors:array comments:array variables:object taskInfo:object`, ""),
		"TaskForm":      entitySchema("taskForm", "id may:array fields:array", ""),
		"TaskInput":     entitySchema("", "", "id comment variables:object"),
		"Workflow":      entitySchema("workflow", "id name title state:string? workflowModelName initiator:any attachedDocumentIds:array variables:object graphResource", ""),
		"WorkflowInput": entitySchema("", "", "workflowModelName attachedDocumentIds:any variables:object"),
	}
}
