package engram_test

// shapeCases are about the findings that look at the graph alone. Package audit has
// their near misses.
func shapeCases() []plantedCase {
	return []plantedCase{
		{
			finding: "typed_edge_distribution",
			setup: []string{`CREATE (a:Note {id: 'a'})-[:related {id: 'e1', weight: 0.5}]->(b:Note {id: 'b'}), (a)-[:RELATED]->(b), (b)-[:` + "`WORKS-AT`" + `]->(a),
				(a)-[:WORKS_AT]->(b), (b)-[:WORKS_AT]->(a), (a)-[:KNEADS]->(b)`},
			status: "notice", note: "Probably the same: WORKS-AT (1 edge) differs by hyphens or underscores from WORKS_AT; related (1 edge) differs by case from RELATED.",
			healed: "ok",
		},
		{
			finding: "orphans_and_dangling",
			setup: []string{`CREATE (:Note {id: 'a', content: 'trains run to the harbour'})-[:RELATED]->(:Note {id: 'b', content: 'the harbour is closed in winter'}),
				(:Note {id: 'o\'clock', content: 'the harbour, at nine o\'clock'})`},
			status: "notice", ids: []string{"o'clock"}, note: "No walk reaches or leaves 1 node", healed: "ok",
		},
		{
			finding: "duplicates",
			setup: []string{`CREATE (:Note {id: 'a', content: 'She plays the piano'}), (:Note {id: 'b', content: 'She plays the piano'}), (:Note {id: 'c', content: 'she plays: the piano!'}),
				(:Lesson {id: 'd', content: 'She plays the piano'}), (:Note {id: 'e', content: 'She plays the violin'})`},
			status: "notice", ids: []string{"a", "b", "c"}, note: "3 nodes in 1 group", healed: "ok",
		},
		{
			finding: "components_and_hubs", setup: []string{"CREATE (h:Note {id: 'hub'}), (:Note {id: 'alone'}) WITH h UNWIND range(1, 1025) AS i CREATE (:Note {id: 'n' + i})-[:RELATED]->(h)"},
			status: "notice", ids: []string{"hub"}, note: "The graph falls into 2 components, 1 of them with more than one node; the largest has 1026 of 1027 nodes.",
			measured: map[string]string{"hubs": "1", "components": "2", "largest_degree": "1025"},
		},
		{
			finding: "index_divergence", setup: []string{"CREATE (:Note {id: 'a', content: 'a garden by the river'}), (:Note {id: 'b'})"},
			status: "ok", note: "The indexes have just the nodes that have text", measured: map[string]string{"texts": "1", "text_missing": "0", "vector_extra": "0"},
		},
		{
			finding: "embedding_coverage", setup: []string{"CREATE (:Note {id: 'a', content: 'a garden by the river'}), (:Note {id: 'b', content: 'xqzt'}), (:Note {id: 'c'})"},
			status: "ok", note: "1 has no word that the model knows", measured: map[string]string{"texts": "2", "with_vector": "1", "without_meaning": "1", "without_text": "1"},
		},
	}
}
