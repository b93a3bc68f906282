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

// planCache keeps the plans used last. It is safe for concurrent use.
type planCache struct {
	mu    sync.Mutex
	size  int
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
	if c.size <= 0 || c.plans[key] != nil {
		return
	}
	if c.order.Len() >= c.size {
		last := c.order.Back()
		c.order.Remove(last)
		delete(c.plans, last.Value.(*cached).key)
	}
	c.plans[key] = c.order.PushFront(&cached{key: key, plan: p})
}
