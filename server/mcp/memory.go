package mcp

import sdk "github.com/modelcontextprotocol/go-sdk/mcp"

const compatMemory = "memory"

var memoryTools []tool

func keepSubscriptions(*sdk.ServerOptions) {}
func (s *Server) addKnowledgeGraph()       {}
