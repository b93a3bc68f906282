package mcp

// nativeTools are all tools, the default ones first.
var nativeTools = []tool{
	{name: "begin_session", folder: "tools", standard: true, run: beginSession, aliases: map[string]string{
		"conversation_id": "conversation", "session": "conversation", "topic": "about", "query": "about", "intent": "about",
	}},
	{name: "remember", folder: "tools", standard: true, run: remember, aliases: map[string]string{
		"text": "content", "memory": "content", "label": "labels", "tag": "tags", "props": "properties", "metadata": "properties", "link": "links",
		"conversation_id": "conversation",
	}},
	{name: "recall", folder: "tools", standard: true, run: recall, aliases: map[string]string{
		"question": "query", "q": "query", "text": "query", "k": "limit", "top_k": "limit", "max_results": "limit", "label": "labels", "layer": "layers",
		"including": "include",
	}},
	{name: "inspect", folder: "tools", standard: true, run: inspect, aliases: map[string]string{"node": "id", "node_id": "id", "question": "query"}},
	{name: "link", folder: "tools", standard: true, run: link, aliases: map[string]string{
		"source": "from", "target": "to", "relation": "type", "relation_type": "type", "reason": "because",
	}},
	{name: "supersede", folder: "tools", standard: true, run: supersede, aliases: map[string]string{
		"old_id": "old", "new_id": "new", "by": "new", "text": "content", "reason": "because",
	}},
	{name: "forget", folder: "tools", standard: true, run: forget, aliases: map[string]string{"memory_id": "id", "reason": "because"}},
	{name: "query", folder: "tools", standard: true, run: query, userStatement: true, aliases: map[string]string{
		"query": "statement", "cypher": "statement", "eql": "statement", "parameters": "params",
	}},
	{name: "search", folder: "tools", standard: true, run: search, aliases: map[string]string{"q": "query"}},
	{name: "fetch", folder: "tools", standard: true, run: fetch},
	{name: "compile_context", folder: "tools", run: compileContext, aliases: map[string]string{"query": "intent", "about": "intent", "max_tokens": "budget"}},
	{name: "link_causal", folder: "tools", run: linkCausal, aliases: map[string]string{
		"from": "cause", "to": "effect", "weight": "strength", "reason": "because", "evidence": "because",
	}},
	{name: "consolidate", folder: "tools", run: consolidate, aliases: map[string]string{"tier": "to"}},
	{name: "plan_work", folder: "tools", run: planWork, aliases: map[string]string{"description": "body", "links": "concerns"}},
	{name: "review_backlog", folder: "tools", run: reviewBacklog},
	{name: "restructure_causal", folder: "tools", run: restructureCausal, aliases: map[string]string{"node": "id"}},
	{name: "structural_audit", folder: "tools", run: structuralAudit, aliases: map[string]string{"findings": "only"}},
}
