package server

import (
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"

	"engram"
	"engram/server/token"
)

func (s *Server) memoryRoutes() []*route {
	return []*route{
		{
			method: http.MethodPost, pattern: "/v1/recall", scope: token.Read, body: jsonBody, handle: s.recall,
			summary: "Recall memories for a question",
			detail:  "It only reads, unless reinforce is set, which needs the scope write.",
			request: recallRequest{}, response: recallResponse{}, problems: seedingProblems,
		},
		{
			method: http.MethodPost, pattern: "/v1/remember", scope: token.Write, body: jsonBody, writes: true, keyed: true, handle: s.remember,
			summary: "Store a memory",
			detail: "When the answer is there, it is durable. The same text again counts as a use of the memory: created is then false. " +
				"Another text for the same id takes the place of the older one, which is then superseded.",
			request: rememberRequest{}, response: rememberResponse{}, problems: append([]string{codeNodeNotFound}, running...),
		},
		{
			method: http.MethodPost, pattern: "/v1/activate", scope: token.Read, body: jsonBody, handle: s.activate,
			summary: "What comes to mind of some nodes", request: activateRequest{}, response: activateResponse{}, problems: append([]string{codeNodeNotFound}, running...),
		},
		{
			method: http.MethodPost, pattern: "/v1/compile", scope: token.Read, body: jsonBody, handle: s.compile,
			summary: "A text for a prompt, of what comes to mind",
			detail:  "The text is empty when nothing comes to mind.",
			request: compileRequest{}, response: compileResponse{}, problems: seedingProblems,
		},
	}
}

// seeding are the fields of requests that recall.
type seeding struct {
	Self    bool
	From    []string
	Layers  []string
	Include []string
	AsOf    string
	Within  string
	At      string
}

// seedingProblems are the codes of problems that those fields may lead to.
var seedingProblems = append(append([]string{codeNodeNotFound}, coded(engram.CodeWithheld, engram.CodeArgumentError, engram.CodeNothingToSearch)...), running...)

var includable = []string{"superseded", "forgotten", "telemetry", "verdicts"}

// clauses write the fields as options of RECALL, and add their parameters. before is
// what has to stand before the clause.
func (f seeding) clauses(params map[string]any) (before, options string, err error) {
	var b strings.Builder
	if len(f.From) > 0 {
		params["from"] = f.From
		before = "UNWIND $from AS id MATCH (start {id: id}) WITH collect(start) AS seeds "
		b.WriteString(" FROM seeds")
	}
	if f.Self {
		b.WriteString(" SELF")
	}
	if len(f.Layers) > 0 {
		params["layers"] = f.Layers
		b.WriteString(" IN LAYERS $layers")
	}
	for i, what := range f.Include {
		if !slices.Contains(includable, what) {
			return "", "", invalid("include", "include is of "+strings.Join(includable, ", "))
		}
		b.WriteString(map[bool]string{true: " INCLUDING ", false: "|"}[i == 0] + strings.ToUpper(what))
	}
	for _, t := range []struct{ name, word, fn, value string }{
		{"as_of", "AS OF", "datetime", f.AsOf}, {"within", "WITHIN", "duration", f.Within}, {"at", "AT", "datetime", f.At},
	} {
		if t.value != "" {
			params[t.name] = t.value
			b.WriteString(" " + t.word + " " + t.fn + "($" + t.name + ")")
		}
	}
	return before, b.String(), nil
}

// quote writes a name of the graph, such as a label, as EQL has it: whatever is in it
// stays a name.
func quote(name string) string { return "`" + strings.ReplaceAll(name, "`", "``") + "`" }

// types writes types of edges behind a word.
func types(word string, names []string) string {
	if len(names) == 0 {
		return ""
	}
	quoted := make([]string, len(names))
	for i, n := range names {
		quoted[i] = quote(n)
	}
	return " " + word + " :" + strings.Join(quoted, "|")
}

// checkNames refuses names that cannot be one.
func checkNames(field string, names ...string) error {
	for _, n := range names {
		if n == "" || len(n) > 256 || strings.ContainsRune(n, 0) {
			return invalid(field, "a name has 1 to 256 bytes, and no zero byte")
		}
	}
	return nil
}

// recallRequest asks for memories.
type recallRequest struct {
	Query     string   `json:"query" doc:"Words or a question." required:"true"`
	Limit     int      `json:"limit" doc:"How many memories at most, 1 to 1,000; without it 10."`
	Depth     int      `json:"depth" doc:"How many hops activation travels, 1 to 16; without it 2."`
	Self      bool     `json:"self" doc:"Begin at the declared self too."`
	From      []string `json:"from" doc:"Ids of nodes to begin at too."`
	Via       []string `json:"via" doc:"Only over edges of these types."`
	Against   []string `json:"against" doc:"Not over edges of these types."`
	Layers    []string `json:"layers" doc:"Only memories of these layers."`
	Include   []string `json:"include" doc:"What is left out otherwise: superseded, forgotten, telemetry; verdicts are refused."`
	AsOf      string   `json:"as_of" doc:"What held at this time, such as 2024-05-06."`
	Within    string   `json:"within" doc:"Only memories of the latest time, such as P7D."`
	At        string   `json:"at" doc:"Recall as if it was this time."`
	Labels    []string `json:"labels" doc:"Only nodes with all of these labels."`
	Reinforce bool     `json:"reinforce" doc:"Count it as a use of what is recalled; needs the scope write."`
	Explain   bool     `json:"explain" doc:"Tell all that the score was made of."`
	Receipt   bool     `json:"receipt" doc:"Tell by what the recall can be repeated."`
}

// recallResponse has the memories, best first.
type recallResponse struct {
	Memories []any   `json:"memories" doc:"Objects with node, score and why; with explain also lexical, semantic, activation, salience and recency; with receipt also receipt."`
	Summary  summary `json:"summary"`
}

const maxRecall = 1000

func bounds(limit, depth *int, defLimit int) error {
	def(limit, defLimit)
	def(depth, 2)
	if *limit < 1 || *limit > maxRecall {
		return invalid("limit", fmt.Sprintf("the limit is 1 to %d", maxRecall))
	}
	if *depth < 1 || *depth > 16 {
		return invalid("depth", "the depth is 1 to 16")
	}
	return nil
}

// statement makes the RECALL of the request.
func (q *recallRequest) statement() (*statement, error) {
	if strings.TrimSpace(q.Query) == "" {
		return nil, invalid("query", "the query is missing: give words or a question")
	}
	if err := bounds(&q.Limit, &q.Depth, 10); err != nil {
		return nil, err
	}
	for field, names := range map[string][]string{"via": q.Via, "against": q.Against, "labels": q.Labels} {
		if err := checkNames(field, names...); err != nil {
			return nil, err
		}
	}
	params := map[string]any{"query": q.Query, "limit": q.Limit, "depth": q.Depth}
	before, options, err := seeding{q.Self, q.From, q.Layers, q.Include, q.AsOf, q.Within, q.At}.clauses(params)
	if err != nil {
		return nil, err
	}
	text := before + "RECALL $query DEPTH $depth LIMIT $limit" + types("VIA", q.Via) + types("AGAINST", q.Against) + options
	for i, l := range q.Labels {
		text += map[bool]string{true: " WHERE ", false: " AND "}[i == 0] + "node:" + quote(l)
	}
	if q.Reinforce {
		text += " REINFORCE"
	}
	columns := "score, why"
	if q.Explain {
		columns += ", lexical, semantic, activation, salience, recency"
	}
	if q.Receipt {
		columns += ", receipt"
	}
	text += " YIELD node AS node, " + columns + " RETURN node, " + columns
	return &statement{text: text, params: params, write: q.Reinforce}, nil
}

func (s *Server) recall(c *call) error {
	var q recallRequest
	if err := c.decode(&q); err != nil {
		return err
	}
	st, err := q.statement()
	if err != nil {
		return err
	}
	if q.Reinforce && !c.who.May(token.Write) {
		return newProblem(http.StatusForbidden, codeForbidden, "reinforce needs the scope write")
	}
	res, err := c.known(st, "from", q.From)
	if err != nil {
		return err
	}
	return c.answerObjects("memories", res)
}

// answerObjects answers with an object of each row, and the summary. It is written
// straight: an encoder would go over every memory twice.
func (c *call) answerObjects(name string, res *engram.Result) error {
	body := append([]byte(`{"`), name...)
	body = append(body, `":[`...)
	for i, o := range objects(res) {
		if i > 0 {
			body = append(body, ',')
		}
		var err error
		if body, err = o.append(body); err != nil {
			return err
		}
	}
	tail, err := json.Marshal(c.summarize(res))
	if err != nil {
		return err
	}
	return c.answerBytes(append(append(append(body, `],"summary":`...), tail...), '}'))
}

// summarize is the summary of a statement that the client did not write: without
// notices about it.
func (c *call) summarize(res *engram.Result) summary {
	res.Notices = nil
	return summarize(c.db, res, int64(len(res.Rows)), false)
}

// known runs a statement that begins at nodes, all of which have to be there: a slip
// would answer another question.
func (c *call) known(st *statement, field string, ids []string) (*engram.Result, error) {
	if len(ids) > 0 {
		if len(ids) > 1000 {
			return nil, invalid(field, "at most 1,000 ids")
		}
		missing, err := c.missing(c.db, ids)
		if err != nil {
			return nil, err
		}
		if len(missing) > 0 {
			return nil, nodeMissing(field, missing[0])
		}
	}
	res, err := c.exec(c.db, st)
	return res, plain(err)
}

// missing returns the ids that no node has, in their order.
func (c *call) missing(q querier, ids []string) ([]string, error) {
	res, err := c.exec(q, &statement{
		text:   "UNWIND $ids AS id OPTIONAL MATCH (n {id: id}) WITH id, n WHERE n IS NULL RETURN DISTINCT id",
		params: map[string]any{"ids": ids},
	})
	if err != nil {
		return nil, plain(err)
	}
	var out []string
	for _, row := range res.Rows {
		out = append(out, row[0].AsString())
	}
	return out, nil
}

func nodeMissing(field, id string) *problem {
	p := newProblem(http.StatusNotFound, codeNodeNotFound, "there is no node with the id '"+id+"'")
	p.Field = field
	return p
}

// plain tells the error of a statement that the client did not write without the
// statement and the place in it.
func plain(err error) error {
	e, ok := err.(*engram.Error) //nolint:errorlint // that of package engram is never wrapped
	if !ok || e.Line == 0 {
		return err
	}
	out := *e
	first, _, _ := strings.Cut(e.Message, "\n")
	if _, message, ok := strings.Cut(first, fmt.Sprintf(" at line %d, column %d: ", e.Line, e.Column)); ok {
		first = message
	}
	out.Message, out.Line, out.Column = first, 0, 0
	return &out
}

// rememberRequest is a memory to be stored.
type rememberRequest struct {
	Text       string         `json:"text" doc:"The memory." required:"true"`
	ID         string         `json:"id" doc:"Its id; without it one is made."`
	Labels     []string       `json:"labels" doc:"Labels beside Memory."`
	Properties map[string]any `json:"properties" doc:"Its properties. created_at, valid_from and valid_to are date-times."`
	Links      []linkRequest  `json:"links" doc:"Edges to nodes that are there."`
	Alone      bool           `json:"alone" doc:"Do not join it with memories that are like it."`
}

// linkRequest is an edge from the memory.
type linkRequest struct {
	To     string   `json:"to" doc:"The id of a node." required:"true"`
	Type   string   `json:"type" doc:"The edge's type." required:"true"`
	Weight *float64 `json:"weight" doc:"The edge's weight."`
}

// rememberResponse tells what became of it.
type rememberResponse struct {
	ID       string  `json:"id,omitempty" doc:"The memory's id; left out when repeated."`
	Created  bool    `json:"created" doc:"False when it was remembered before."`
	Summary  summary `json:"summary"`
	Repeated bool    `json:"repeated,omitempty" doc:"The Idempotency-Key was committed before: nothing was written."`
}

// momentous are the properties that a memory is judged by, which are date-times.
var momentous = []string{"created_at", "valid_from", "valid_to"}

// propertyMap writes a map of the properties in a parameter.
func propertyMap(param string, props map[string]any) (string, error) {
	var list []string
	for _, name := range sortedKeys(props) {
		if err := checkNames("properties", name); err != nil {
			return "", err
		}
		v := "$" + param + "." + quote(name)
		if _, text := props[name].(string); text && slices.Contains(momentous, name) {
			v = "datetime(" + v + ")"
		}
		list = append(list, quote(name)+": "+v)
	}
	return "{" + strings.Join(list, ", ") + "}", nil
}

// statement makes the REMEMBER of the request.
func (q *rememberRequest) statement() (*statement, error) {
	if strings.TrimSpace(q.Text) == "" {
		return nil, invalid("text", "the text is missing")
	}
	if err := checkNames("labels", q.Labels...); err != nil {
		return nil, err
	}
	if len(q.Links) > 100 {
		return nil, invalid("links", "at most 100 links: use POST /v1/edges:batch for more")
	}
	props := map[string]any{}
	for name, v := range q.Properties {
		props[name] = v
	}
	if q.ID != "" {
		if _, twice := props["id"]; twice {
			return nil, invalid("id", "the id is given twice: as id and among the properties")
		}
		props["id"] = q.ID
	}
	properties, err := propertyMap("props", props)
	if err != nil {
		return nil, err
	}
	params := map[string]any{"text": q.Text, "props": props}
	var before, links strings.Builder
	for i, l := range q.Links {
		if err := checkNames("links", l.Type, l.To); err != nil {
			return nil, err
		}
		to := fmt.Sprintf("to%d", i)
		params[to] = l.To
		fmt.Fprintf(&before, "MATCH (%s {id: $%s}) ", to, to)
		fmt.Fprintf(&links, "%s (%s) AS :%s", map[bool]string{true: " LINK", false: ","}[i == 0], to, quote(l.Type))
		if l.Weight != nil {
			params[to+"w"] = *l.Weight
			fmt.Fprintf(&links, " WEIGHT $%sw", to)
		}
	}
	text := before.String() + "REMEMBER $text :Memory"
	for _, l := range q.Labels {
		text += ":" + quote(l)
	}
	text += " " + properties + links.String()
	if q.Alone {
		text += " ALONE"
	}
	return &statement{text: text + " AS m RETURN m.id AS id, created", params: params, write: true}, nil
}

func (s *Server) remember(c *call) error {
	var q rememberRequest
	if err := c.decode(&q); err != nil {
		return err
	}
	st, err := q.statement()
	if err != nil {
		return err
	}
	res, repeated, err := c.execOnce(st)
	if err != nil {
		return plain(err)
	}
	if repeated {
		return c.answer(rememberResponse{Repeated: true, Summary: summarize(c.db, res, 0, true)})
	}
	if len(res.Rows) == 0 { // an end of a link is missing: nothing was stored
		var ids []string
		for _, l := range q.Links {
			ids = append(ids, l.To)
		}
		missing, err := c.missing(c.db, ids)
		if err != nil || len(missing) == 0 {
			missing = ids[:1] // it came meanwhile
		}
		return nodeMissing("links", missing[0])
	}
	return c.answer(rememberResponse{ID: res.Rows[0][0].AsString(), Created: res.Rows[0][1].AsBool(), Summary: c.summarize(res)})
}

// activateRequest names nodes to begin at.
type activateRequest struct {
	IDs   []string `json:"ids" doc:"Ids of nodes." required:"true"`
	Limit int      `json:"limit" doc:"How many nodes at most, 1 to 1,000; without it 20."`
	Depth int      `json:"depth" doc:"How many hops activation travels, 1 to 16; without it 2."`
}

type activateResponse struct {
	Nodes   []any   `json:"nodes" doc:"Objects with node, activation, weight, promoted, suppressed_by (an id or null) and reason."`
	Summary summary `json:"summary"`
}

func (s *Server) activate(c *call) error {
	var q activateRequest
	if err := c.decode(&q); err != nil {
		return err
	}
	if err := bounds(&q.Limit, &q.Depth, 20); err != nil {
		return err
	}
	if len(q.IDs) == 0 {
		return invalid("ids", "the ids are missing: name nodes to begin at")
	}
	res, err := c.known(&statement{
		text: `UNWIND $ids AS id MATCH (n {id: id}) WITH collect(n) AS start
			ACTIVATE start DEPTH $depth LIMIT $limit YIELD node AS m, activation, weight, promoted, suppressed_by, reason
			RETURN m AS node, activation, weight, promoted, suppressed_by.id AS suppressed_by, reason`,
		params: map[string]any{"ids": q.IDs, "depth": q.Depth, "limit": q.Limit},
	}, "ids", q.IDs)
	if err != nil {
		return err
	}
	return c.answerObjects("nodes", res)
}

// compileRequest tells what a prompt is about.
type compileRequest struct {
	Intent  string   `json:"intent" doc:"What the prompt is about: words or a question." required:"true"`
	Budget  int      `json:"budget" doc:"How many tokens at most, by an estimate; without it 1,000."`
	Self    bool     `json:"self" doc:"Begin at the declared self too."`
	From    []string `json:"from" doc:"Ids of nodes to begin at too."`
	Layers  []string `json:"layers" doc:"Only memories of these layers."`
	Include []string `json:"include" doc:"What is left out otherwise: superseded, forgotten, telemetry; verdicts are refused."`
	AsOf    string   `json:"as_of" doc:"What held at this time."`
	Within  string   `json:"within" doc:"Only memories of the latest time, such as P7D."`
	At      string   `json:"at" doc:"Compile as if it was this time."`
}

type compileResponse struct {
	Text      string   `json:"text"`
	Tokens    int64    `json:"tokens" doc:"How many, by an estimate."`
	Nodes     []string `json:"nodes" doc:"Ids of what is in it."`
	Delivered int64    `json:"delivered"`
	Withheld  int64    `json:"withheld" doc:"How many did not fit."`
}

func (s *Server) compile(c *call) error {
	q := compileRequest{}
	if err := c.decode(&q); err != nil {
		return err
	}
	if strings.TrimSpace(q.Intent) == "" {
		return invalid("intent", "the intent is missing")
	}
	def(&q.Budget, 1000)
	if q.Budget < 1 || q.Budget > 100_000 {
		return invalid("budget", "the budget is 1 to 100,000 tokens")
	}
	params := map[string]any{"intent": q.Intent, "budget": q.Budget}
	before, options, err := seeding{q.Self, q.From, q.Layers, q.Include, q.AsOf, q.Within, q.At}.clauses(params)
	if err != nil {
		return err
	}
	res, err := c.known(&statement{
		text: before + "COMPILE $intent BUDGET $budget TOKENS" + options +
			" YIELD text, tokens, nodes, delivered, withheld RETURN text, tokens, [n IN nodes | n.id] AS nodes, delivered, withheld",
		params: params,
	}, "from", q.From)
	if err != nil {
		return err
	}
	if len(res.Rows) == 0 {
		return c.answer(compileResponse{Nodes: []string{}})
	}
	return c.answer(object{res.Columns, res.Rows[0]})
}

// inView runs fn over one moment of the namespace.
func (c *call) inView(fn func(tx *engram.Tx) error) error {
	return c.db.View(c.ctx, func(tx *engram.Tx) error { return fn(tx) })
}
