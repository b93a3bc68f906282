package query

import (
	"container/list"
	"sync"
)

// planKey is what a plan depends on.
type planKey struct {
	text   string
	schema uint64 // 0: planned without a graph
	scale  uint16 // how large the graph was, roughly
	rules  Rules
}

// A plan takes memory by the length of its text, some hundred times as much: the
// cache keeps plans of maxCachedText bytes of text in all and none of a text that
// is longer than an eighth of that, which is seldom run twice.
const maxCachedText = 2 << 20

// planCache keeps the plans used last. It is safe for concurrent use.
type planCache struct {
	mu    sync.Mutex
	size  int
	text  int // bytes of text of all plans
	plans map[planKey]*list.Element
	order *list.List // of *cached, the one used last in front
}

type cached struct {
	key  planKey
	plan *Plan
}

func newPlanCache(size int) *planCache {
	return &planCache{size: size, plans: map[planKey]*list.Element{}, order: list.New()}
}

func (c *planCache) get(key planKey) *Plan {
	c.mu.Lock()
	defer c.mu.Unlock()
	e := c.plans[key]
	if e == nil {
		return nil
	}
	c.order.MoveToFront(e)
	return e.Value.(*cached).plan
}

func (c *planCache) put(key planKey, p *Plan) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.size <= 0 || c.plans[key] != nil || len(key.text) > maxCachedText/8 {
		return
	}
	c.text += len(key.text)
	for c.order.Len() >= c.size || c.text > maxCachedText {
		last := c.order.Back()
		c.order.Remove(last)
		old := last.Value.(*cached).key
		delete(c.plans, old)
		c.text -= len(old.text)
	}
	c.plans[key] = c.order.PushFront(&cached{key: key, plan: p})
}
