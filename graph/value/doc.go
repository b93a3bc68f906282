// Package value holds the values of the query language and of stored
// properties: null, booleans, integers, floats, strings, lists, maps, nodes,
// edges, paths and the temporal kinds. It depends on nothing else of engram.
//
//	v, err := value.FromAny(map[string]any{"name": "Ada", "born": 1815})
//	name, _ := v.AsMap().Get("name")
//	fmt.Println(name)          // 'Ada'
//	fmt.Println(name.ToString()) // Ada
//	d, err := value.ParseDate("2015-W30-2")
//	fmt.Println(value.OfDate(d)) // '2015-07-21'
//
// There are three comparisons, as in Cypher: Equal and Less are the operators
// and three-valued, Equivalent is what DISTINCT and grouping use, Order sorts
// everything. Equivalent holds exactly when Order is 0, and then Hash agrees.
package value
