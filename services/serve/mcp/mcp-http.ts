import type { IncomingHttpHeaders } from 'node:http'
import { WebStandardStreamableHTTPServerTransport } from '@modelcontextprotocol/sdk/server/webStandardStreamableHttp.js'
import { type AskRest, createMcpServer } from './mcp-server.js'

const PROTOCOL_HEADERS = ['accept', 'content-type', 'mcp-protocol-version']

/** Answers one message of a client. A server per message: it holds no state. */
export async function answerHttp(headers: IncomingHttpHeaders, body: unknown, ask: AskRest): Promise<Response> {
  const server = createMcpServer(ask)
  // Without a session id there are no sessions.
  const transport = new WebStandardStreamableHTTPServerTransport({ enableJsonResponse: true })
  await server.connect(transport)
  try {
    const given = PROTOCOL_HEADERS.flatMap((name): [string, string][] => {
      const value = headers[name]
      return typeof value === 'string' ? [[name, value]] : []
    })
    const request = new Request('http://localhost/mcp', { method: 'POST', headers: given })
    return await transport.handleRequest(request, { parsedBody: body })
  } finally {
    await server.close()
  }
}
