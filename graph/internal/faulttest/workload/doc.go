// Package workload is a sequence of transactions, each a function of a seed and
// its number, with the model that they lead to: what a database must hold after
// transaction n is known without having seen it run.
package workload
