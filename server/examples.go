package server

// example is a whole request as the OpenAPI document shows it. Tests send each of them.
type example struct {
	name  string
	media string // empty: JSON
	body  string // of JSON, or a text
}

// examples are those of the routes that take a body, by method and pattern. They are about
// two persons, ann and ben, and the memory m1.
var examples = map[string][]example{
	"POST /v1/query": {
		{name: "write", body: `{"statement":"MERGE (a:Person {id: $id}) SET a.name = $name RETURN a","parameters":{"id":"ann","name":"Ann"}}`},
		{name: "read", body: `{"statement":"MATCH (p:Person)-[r]->(q) RETURN p.name, type(r), q.name LIMIT 10","mode":"read","budget":{"time_ms":2000,"rows":1000,"memory":67108864,"steps":1000000}}`},
		{name: "typed", body: `{"statement":"RETURN $day AS day","parameters":{"day":{"$kind":"date","value":"2024-05-01"}},"values":"typed","mode":"auto"}`},
	},
	"POST /v1/batch": {
		{name: "two", body: `{"statements":[{"statement":"MERGE (p:Person {id: $id})","parameters":{"id":"ben"}},{"statement":"MATCH (p:Person {id: 'ben'}) SET p.name = 'Ben'","key":"sent-before-17"}]}`},
		{name: "typed", body: `{"values":"typed","statements":[{"statement":"MATCH (p:Person {id: 'ann'}) SET p.born = $on","parameters":{"on":{"$kind":"date","value":"1990-05-01"}}}]}`},
	},
	"POST /v1/recall": {
		{name: "words", body: `{"query":"where does Ann live","limit":5}`},
		{name: "narrow", body: `{"query":"Lisbon","depth":1,"from":["ann"],"via":["ABOUT"],"against":["SUPERSEDES"],"layers":["core"],"include":["superseded"],"as_of":"2030-01-01","within":"P3650D","at":"2030-01-01","labels":["Memory"],"explain":true,"receipt":true}`},
		{name: "reinforce", body: `{"query":"Lisbon","reinforce":true}`},
	},
	"POST /v1/remember": {
		{name: "text", body: `{"text":"Ben plays the cello"}`},
		{name: "linked", body: `{"text":"Ann moved to Lisbon in May","id":"m1","labels":["Note"],"properties":{"valid_from":"2024-05-01","mood":"glad"},"links":[{"to":"ann","type":"ABOUT","weight":0.5}],"alone":true}`},
	},
	"POST /v1/activate": {{name: "ids", body: `{"ids":["ann"],"depth":2,"limit":10}`}},
	"POST /v1/compile":  {{name: "intent", body: `{"intent":"visit Ann in Lisbon","budget":200,"from":["ann"]}`}},
	"PATCH /v1/nodes/{id}": {
		{name: "properties", body: `{"properties":{"name":"Ann","age":30,"since":null}}`},
		{name: "labels", body: `{"add_labels":["Friend"],"remove_labels":["Stranger"]}`},
	},
	"POST /v1/edges:batch": {{name: "edges", body: `{"edges":[{"from":"ann","to":"ben","type":"KNOWS","weight":0.7,"properties":{"since":2021}}]}`}},
	"POST /v1/merge": {
		{name: "snapshot", body: `{"nodes":[{"id":"cleo","labels":["Person"],"properties":{"name":"Cleo"}}],"edges":[{"from":"cleo","to":"ann","type":"KNOWS"}]}`},
		{name: "changes", body: `{"updates":[{"id":"ben","properties":{"age":31}}],"forgets":[{"id":"m1","because":"asked"}]}`},
	},
	"POST /v1/audit/structural": {
		{name: "all", body: `{}`},
		{name: "some", body: `{"only":["orphans_and_dangling"],"limit":5,"suggest":true}`},
	},
	"POST /v1/import": {
		{name: "memories", media: typeNDJSON, body: `{"id":"i1","text":"The ferry leaves at nine","conversation":"trip"}` + "\n"},
		{name: "memory", media: typeJSON, body: `{"id":"i2","text":"The ferry costs four euros","conversation":"trip"}` + "\n"},
		{name: "script", media: "application/octet-stream", body: "MERGE (:Place {id: 'porto', name: 'Porto'});\n"},
		{name: "table", media: "text/csv", body: "id,label,name\nfaro,Place,Faro\n"},
	},
	"POST /v1/backup": {{name: "keep", body: `{"keep":2}`}},
	"POST /v1/namespaces": {
		{name: "plain", body: `{"name":"notes"}`},
		{name: "bounded", body: `{"name":"letters","quota_bytes":67108864}`},
	},
	"PATCH /v1/namespaces/{name}": {
		{name: "rename", body: `{"name":"papers"}`},
		{name: "bound", body: `{"quota_bytes":67108864}`},
	},
	"POST /v1/session/begin": {
		{name: "new", body: `{}`},
		{name: "about", body: `{"conversation":"trip","about":"Lisbon","budget":200}`},
	},
	"POST /v1/conversations": {{name: "new", body: `{}`}},
	"POST /v1/conversations/{id}/messages": {
		{name: "text", body: `{"text":"What do you know of Ann?"}`},
		{name: "plan", body: `{"text":"Plan the trip","plan":true,"mission":"A week in Lisbon"}`},
		{name: "bare", body: `{"text":"Say hello","no_tools":true,"ask_all":true}`},
	},
	"PATCH /v1/conversations/{id}":  {{name: "title", body: `{"title":"About herons"}`}},
	"POST /v1/conversations:search": {{name: "words", body: `{"words":"ferry","limit":5}`}},
	"POST /v1/verdicts":             {{name: "run", body: `{"run_id":"r-1","decision":"approved","reason":"it held"}`}},
	"POST /v1/conversations/{id}/approvals": {
		{name: "revise", body: `{"decision":"revise","words":"by train"}`},
		{name: "approve", body: `{"decision":"approve","remember":"conversation"}`},
		{name: "deny", body: `{"decision":"deny","words":"not today"}`},
		{name: "result", body: `{"decision":"result","result":"it was done by hand"}`},
	},
	"POST /v1/login": {{name: "code", body: `{"code":"k3m7q2x5v7w3y6z4a5b2c3d4e5"}`}},
	"POST /v1/transactions": {
		{name: "read", body: `{"mode":"read"}`},
		{name: "write", body: `{"mode":"write"}`},
	},
}
