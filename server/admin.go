package server

import (
	"fmt"
	"net/http"

	"engram"
	"engram/chatbridge"
	"engram/server/archive"
	"engram/server/exporter"
	"engram/server/importer"
	"engram/server/token"
)

func (s *Server) adminRoutes() []*route {
	return []*route{
		{
			method: http.MethodPost, pattern: "/v1/merge", scope: token.Write, body: jsonBody, writes: true, keyed: true, handle: s.merge,
			summary: "Merge a snapshot of nodes and edges",
			detail: "Ids are kept, so merging it again changes nothing. Nothing is overwritten: a node or an edge that is there with other fields, and one that the snapshot has twice with different fields, " +
				"is left as it is and listed as a collision. Changes travel as updates and forgets.",
			request: mergeRequest{}, response: mergeResponse{}, problems: append([]string{codeNodeNotFound}, running...),
		},
		{
			method: http.MethodPost, pattern: "/v1/audit/structural", scope: token.Read, body: jsonBody, handle: s.auditStructure,
			summary: "What shape the memory is in", detail: "It reads one moment and writes nothing. What could not be measured is told with the reason.",
			request: auditRequest{}, problems: []string{codeOverloaded},
		},
		{
			method: http.MethodGet, pattern: "/v1/stats", scope: token.Read, handle: s.stats,
			summary: "What a namespace holds", response: statsResponse{},
		},
		{
			method: http.MethodGet, pattern: "/v1/schema", scope: token.Read, handle: s.schema,
			summary: "Labels, types, indexes, constraints, layers and relation types", response: schemaResponse{}, problems: running,
		},
		{
			method: http.MethodPost, pattern: "/v1/import", scope: token.Admin, body: streamBody, stream: true, writes: true, handle: s.importRoute,
			types:   []string{typeNDJSON, typeJSON, "text/csv", "application/octet-stream", archive.Type},
			summary: "Import a file or a folder",
			detail: "A graph or memories as JSON Lines, a script of statements, or what else engramd import reads; the format is found by the content. All of it is read before anything is written. " +
				"A folder (Markdown, nodes.csv and edges.csv, a backup) is sent as a tar file, which is refused with links, devices, names that lead out or have control characters, and more than 250,000 entries. " +
				"Importing again changes only what the file changed, and leaves what was edited. A line that makes no sense ends the import with its number, unless skip_bad leaves it out.",
			query: []param{
				{name: "format", kind: "string", doc: "How the file is written; left out: found by its content.", enum: importer.Formats()},
				{name: "dry_run", kind: "boolean", doc: "Read and compare everything, and write nothing."},
				{name: "skip_bad", kind: "boolean", doc: "Leave out what makes no sense, and tell of it."},
				{name: "restart", kind: "boolean", doc: "Give up an unfinished import of another file: what it brought stays and is merged with."},
				{name: "split", kind: "string", doc: "Make nodes of the headings of Markdown.", enum: []string{"heading"}},
				{name: "name", kind: "string", doc: "The name of the file, by which a single note has its id.", example: "ferry.md"},
			},
			request: map[string]any{}, response: importer.Report{}, problems: append(coded(engram.CodeLoadUnfinished, engram.CodeResourceExhausted), stating...),
		},
		{
			method: http.MethodGet, pattern: "/v1/export", scope: token.Admin, stream: true, handle: s.export,
			summary: "Export a namespace",
			detail:  "One moment of the graph, the same graph always in the same way. JSON Lines hold all of it. An answer that broke off ends without its last chunk.",
			query:   []param{{name: "format", kind: "string", doc: "How it is written.", enum: exporter.Formats(), def: "jsonl"}},
			answers: map[string]string{typeNDJSON: "JSON Lines.", typeText: "A script of statements.", archive.Type: "A folder."},
		},
		{
			method: http.MethodPost, pattern: "/v1/backup", scope: token.Admin, body: jsonBody, stream: true, handle: s.backup,
			summary: "Copy a namespace into a folder of the server's",
			detail:  "Reading and writing go on meanwhile. Where the folder is, the server's configuration says; it gets its name only after the copy was opened and checked.",
			request: backupRequest{}, response: backupResponse{}, problems: coded(engram.CodeNotSupported),
		},
		{
			method: http.MethodGet, pattern: "/v1/namespaces", scope: token.Read, global: true, handle: s.namespaces,
			summary: "List the namespaces that the token may use", response: namespacesResponse{},
		},
		{
			method: http.MethodPost, pattern: "/v1/namespaces", scope: token.Admin, body: jsonBody, global: true, writes: true, handle: s.createNamespace,
			summary: "Make a namespace", request: namespaceRequest{}, response: namespaceJSON{}, problems: coded(engram.CodeNotFound, engram.CodeExists, engram.CodeFull, engram.CodeFailed),
		},
		{
			method: http.MethodPatch, pattern: "/v1/namespaces/{name}", scope: token.Admin, body: jsonBody, global: true, writes: true, handle: s.changeNamespace,
			summary: "Rename a namespace, or bound its size",
			detail:  "It must not be in use: try again when nothing runs in it.",
			request: namespaceChange{}, response: namespaceJSON{}, problems: coded(engram.CodeNotFound, engram.CodeExists, engram.CodeAborted, engram.CodeFailed),
		},
		{
			method: http.MethodDelete, pattern: "/v1/namespaces/{name}", scope: token.Admin, global: true, writes: true, handle: s.dropNamespace,
			summary: "Delete a namespace with everything in it", detail: "It must not be in use: try again when nothing runs in it.",
			response: droppedResponse{}, problems: coded(engram.CodeNotFound, engram.CodeAborted, engram.CodeFailed),
		},
	}
}

// statsResponse tells what a namespace holds.
type statsResponse struct {
	Namespace string       `json:"namespace"`
	Seq       uint64       `json:"seq"`
	Nodes     int64        `json:"nodes"`
	Edges     int64        `json:"edges"`
	Labels    []countJSON  `json:"labels"`
	Types     []countJSON  `json:"types"`
	Keys      int          `json:"property_names"`
	Commits   uint64       `json:"commits" doc:"Since it was loaded."`
	FileBytes int64        `json:"file_bytes"`
	UsedBytes int64        `json:"used_bytes"`
	Quota     int64        `json:"quota_bytes" doc:"0: none of its own."`
	Text      followerJSON `json:"text"`
	Vectors   vectorsJSON  `json:"vectors"`
	Learning  learningJSON `json:"learning"`
	Chat      chatJSON     `json:"chat"`
	Refused   int64        `json:"verdicts_refused" doc:"Statements that asked for verdicts and were refused, since it was loaded."`
	Healthy   bool         `json:"healthy" doc:"False when something in the background failed: the server's log and engramd check tell more."`
}

type countJSON struct {
	Name  string `json:"name"`
	Count int64  `json:"count"`
}

type followerJSON struct {
	Published uint64 `json:"published" doc:"The newest transaction that searches see."`
	Applied   uint64 `json:"applied" doc:"The newest one that the files hold."`
}

type vectorsJSON struct {
	Model   string `json:"model"`
	Live    int    `json:"live"`
	Pending int    `json:"pending"`
}

type learningJSON struct {
	Pending int    `json:"pending"`
	Dropped uint64 `json:"dropped"`
}

// chatJSON tells who answers chats. Keys are never told.
type chatJSON struct {
	Providers []chatProviderJSON   `json:"providers" doc:"In the order they are tried. None: memory alone answers."`
	Settings  []chatbridge.Setting `json:"settings" doc:"Each setting and where it comes from."`
}

type chatProviderJSON struct {
	Name    string `json:"name"`
	Wire    string `json:"wire"`
	BaseURL string `json:"base_url"`
	Model   string `json:"model"`
}

func (s *Server) chatStats() chatJSON {
	out := chatJSON{Providers: []chatProviderJSON{}, Settings: append([]chatbridge.Setting{}, s.config.ChatSettings...)}
	for _, p := range s.config.Chat.Providers {
		out.Providers = append(out.Providers, chatProviderJSON{p.Name, p.Wire, p.BaseURL, p.Model})
	}
	return out
}

func (s *Server) stats(c *call) error {
	st, err := c.db.Stats(c.ctx)
	if err != nil {
		return err
	}
	out := statsResponse{
		Namespace: c.namespace, Seq: st.Seq, Nodes: st.Nodes, Edges: st.Edges, Keys: st.Keys, Commits: st.Commits,
		FileBytes: st.Store.FileBytes, UsedBytes: st.Store.UsedBytes, Quota: s.registry.Quota(c.namespace),
		Labels: []countJSON{}, Types: []countJSON{},
		Text:     followerJSON{st.Text.Published, st.Text.Applied},
		Vectors:  vectorsJSON{st.Vectors.Model, st.Vectors.Live, st.Vectors.Pending},
		Refused:  st.Withheld,
		Learning: learningJSON{st.Learning.Pending, st.Learning.Dropped}, Chat: s.chatStats(),
		Healthy: st.Background == nil && st.AckError == nil && st.Text.Err == nil && st.Vectors.Err == nil && st.Learning.Err == nil,
	}
	for _, l := range st.Labels {
		out.Labels = append(out.Labels, countJSON{l.Name, l.Count})
	}
	for _, t := range st.Types {
		out.Types = append(out.Types, countJSON{t.Name, t.Count})
	}
	return c.answer(out)
}

// schemaResponse tells what a namespace's graph is like.
type schemaResponse struct {
	Labels        []countJSON `json:"labels"`
	Types         []countJSON `json:"types"`
	Indexes       []any       `json:"indexes" doc:"As SHOW INDEXES tells."`
	Constraints   []any       `json:"constraints" doc:"As SHOW CONSTRAINTS tells."`
	Layers        []any       `json:"layers" doc:"As SHOW LAYERS tells."`
	RelationTypes []any       `json:"relation_types" doc:"As SHOW RELATION TYPES tells."`
}

func (s *Server) schema(c *call) error {
	st, err := c.db.Stats(c.ctx)
	if err != nil {
		return err
	}
	out := struct {
		Labels        []countJSON `json:"labels"`
		Types         []countJSON `json:"types"`
		Indexes       []object    `json:"indexes"`
		Constraints   []object    `json:"constraints"`
		Layers        []object    `json:"layers"`
		RelationTypes []object    `json:"relation_types"`
	}{Labels: []countJSON{}, Types: []countJSON{}}
	for _, l := range st.Labels {
		out.Labels = append(out.Labels, countJSON{l.Name, l.Count})
	}
	for _, t := range st.Types {
		out.Types = append(out.Types, countJSON{t.Name, t.Count})
	}
	for _, show := range []struct {
		text string
		into *[]object
	}{
		{"SHOW INDEXES", &out.Indexes}, {"SHOW CONSTRAINTS", &out.Constraints}, {"SHOW LAYERS", &out.Layers}, {"SHOW RELATION TYPES", &out.RelationTypes},
	} {
		res, err := c.exec(c.db, &statement{text: show.text})
		if err != nil {
			return plain(err)
		}
		*show.into = objects(res)
	}
	return c.answer(out)
}

// backupRequest says how a backup is made.
type backupRequest struct {
	Keep int `json:"keep" doc:"How many of the newest backups of the namespace stay, this one included; 0: all."`
}

type backupResponse struct {
	Name  string `json:"name" doc:"The name of the folder."`
	Bytes int64  `json:"bytes"`
	Seq   uint64 `json:"seq"`
}

func (s *Server) backup(c *call) error {
	var q backupRequest
	if err := c.decode(&q); err != nil {
		return err
	}
	if q.Keep < 0 {
		return invalid("keep", "keep is 0 or more")
	}
	if s.config.BackupDir == "" {
		return newProblem(http.StatusNotImplemented, string(engram.CodeNotSupported), "this server has no folder for backups: start it with --backups")
	}
	b, err := c.db.Backup(c.ctx, s.config.BackupDir, &engram.BackupOptions{Keep: q.Keep})
	if err != nil {
		return err
	}
	return c.answer(backupResponseOf(b))
}

// namespaceJSON is a namespace.
type namespaceJSON struct {
	Name  string `json:"name"`
	Quota int64  `json:"quota_bytes" doc:"Bounds its file; 0: no bound of its own."`
}

type namespacesResponse struct {
	Namespaces []namespaceJSON `json:"namespaces"`
}

func (s *Server) namespaces(c *call) error {
	names, err := s.registry.Names()
	if err != nil {
		return err
	}
	out := namespacesResponse{Namespaces: []namespaceJSON{}}
	for _, name := range names {
		if c.who.MayUse(name) {
			out.Namespaces = append(out.Namespaces, namespaceJSON{name, s.registry.Quota(name)})
		}
	}
	return c.answer(out)
}

// namespaceRequest makes a namespace.
type namespaceRequest struct {
	Name  string `json:"name" doc:"1 to 64 of a-z, 0-9, '-' and '_'." required:"true"`
	Quota int64  `json:"quota_bytes" doc:"Bounds its file: 32 MiB or more; 0: the server's bound."`
}

// minQuota is the least bound of a namespace's file.
const minQuota = 32 << 20

func checkQuota(bytes int64) error {
	if bytes != 0 && bytes < minQuota {
		return invalid("quota_bytes", fmt.Sprintf("a quota is %d bytes or more, or 0 for none", minQuota))
	}
	return nil
}

// mayManage refuses names that are none, and namespaces that the token may not use.
func (c *call) mayManage(field, name string) error {
	if err := engram.CheckNamespace(name); err != nil {
		p := asProblem(err)
		p.Field = field
		return p
	}
	if !c.who.MayUse(name) {
		return newProblem(http.StatusNotFound, string(engram.CodeNotFound), "there is no namespace "+name)
	}
	c.namespace = name
	return nil
}

func (s *Server) createNamespace(c *call) error {
	var q namespaceRequest
	if err := c.decode(&q); err != nil {
		return err
	}
	if err := c.mayManage("name", q.Name); err != nil {
		return err
	}
	if err := checkQuota(q.Quota); err != nil {
		return err
	}
	if err := s.registry.Create(q.Name); err != nil {
		if engram.IsCode(err, engram.CodeExists) {
			return newProblem(http.StatusConflict, string(engram.CodeExists), "there is a namespace "+q.Name+" already")
		}
		return err
	}
	if q.Quota != 0 {
		if err := s.registry.SetQuota(q.Name, q.Quota); err != nil {
			return err
		}
	}
	return c.answer(namespaceJSON(q))
}

// namespaceChange changes a namespace.
type namespaceChange struct {
	Name  string `json:"name" doc:"A new name; left out: it keeps its own."`
	Quota *int64 `json:"quota_bytes" doc:"Bounds its file: 32 MiB or more; 0: no bound of its own; left out: as it was."`
}

func (s *Server) changeNamespace(c *call) error {
	var q namespaceChange
	if err := c.decode(&q); err != nil {
		return err
	}
	name := c.req.PathValue("name")
	if err := c.mayManage("name", name); err != nil {
		return err
	}
	if q.Quota != nil {
		if err := checkQuota(*q.Quota); err != nil {
			return err
		}
		if err := s.there(name); err != nil {
			return err
		}
		if err := s.registry.SetQuota(name, *q.Quota); err != nil {
			return err
		}
	}
	if q.Name != "" && q.Name != name {
		if err := c.mayManage("name", q.Name); err != nil {
			return err
		}
		if err := hidePath(s.registry.Rename(name, q.Name), name, q.Name); err != nil {
			return err
		}
		s.minds.forget(name)
		name = q.Name
	}
	return c.answer(namespaceJSON{name, s.registry.Quota(name)})
}

// there refuses a namespace that is missing.
func (s *Server) there(name string) error {
	_, release, err := s.registry.Acquire(name)
	if err != nil {
		return hidePath(err, name, "")
	}
	release()
	return nil
}

// hidePath tells what is missing, or there already, by its name alone.
func hidePath(err error, name, to string) error {
	switch {
	case engram.IsCode(err, engram.CodeNotFound):
		return newProblem(http.StatusNotFound, string(engram.CodeNotFound), "there is no namespace "+name)
	case engram.IsCode(err, engram.CodeExists):
		return newProblem(http.StatusConflict, string(engram.CodeExists), "there is a namespace "+to+" already")
	}
	return err
}

type droppedResponse struct {
	Dropped bool `json:"dropped"`
}

func (s *Server) dropNamespace(c *call) error {
	name := c.req.PathValue("name")
	if err := c.mayManage("name", name); err != nil {
		return err
	}
	if err := hidePath(s.registry.Drop(name), name, ""); err != nil {
		return err
	}
	s.minds.forget(name)
	return c.answer(droppedResponse{true})
}

// auditRequest says what to look at.
type auditRequest struct {
	Only    []string           `json:"only" doc:"The findings that are wanted; left out: all."`
	With    map[string]float64 `json:"with" doc:"Thresholds by name."`
	Limit   int                `json:"limit" doc:"How many ids each list has at most, 1 to 10,000; without it 20."`
	Cursor  string             `json:"cursor" doc:"Goes on where a list ended."`
	Suggest bool               `json:"suggest" doc:"Tell statements that would settle what was found."`
}

func (s *Server) auditStructure(c *call) error {
	var q auditRequest
	if err := c.decode(&q); err != nil {
		return err
	}
	done, err := place(c.ctx, s.running)
	if err != nil {
		return err
	}
	defer done()
	ctx := (&statement{}).context(c.ctx, c.who)
	report, err := c.db.Audit(ctx, &engram.AuditOptions{Only: q.Only, With: q.With, Limit: q.Limit, Cursor: q.Cursor, Suggest: q.Suggest})
	if err != nil {
		return err
	}
	return c.answer(report)
}
