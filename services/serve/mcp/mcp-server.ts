/** A server of the Model Context Protocol whose tools call the REST API: from another process, or inside the REST server. */
import type { IncomingHttpHeaders } from 'node:http'
import { Server } from '@modelcontextprotocol/sdk/server/index.js'
import { WebStandardStreamableHTTPServerTransport } from '@modelcontextprotocol/sdk/server/webStandardStreamableHttp.js'
import {
  CallToolRequestSchema,
  type CallToolResult,
  ErrorCode,
  ListToolsRequestSchema,
  McpError,
} from '@modelcontextprotocol/sdk/types.js'
import { VERSION } from '../../core/runtime/version.js'
import { compactText } from './compact-text.js'
import { inputSchema, requestOf, TOOLS, type Tool } from './tools.js'

export type ToolRequest = ReturnType<typeof requestOf>
export type ToolAnswer = { status: number; header: (name: string) => string | undefined; text: string }

/** Sends a request to the REST API with the key of the caller. Rejects if there is no answer. */
export type AskRest = (request: ToolRequest) => Promise<ToolAnswer>

const INSTRUCTIONS = [
  'Market data of decentralised exchanges, exact and live.',
  'A token_id is <token_address>-<chain>, a pair_id <pair_address>-<chain>; search_tokens finds both.',
  'Times are epoch seconds in UTC, prices and volumes are in USD unless a field says otherwise.',
  'Lists are given as columns and rows. as_of_time is the chain time of an answer, as_of_seq the update it includes.',
].join(' ')

/** Declared once: arguments and rules come from the operations. */
const DECLARED = TOOLS.map((tool) => ({
  ...{ name: tool.name, description: tool.description, inputSchema: inputSchema(tool) },
  annotations: { readOnlyHint: true, openWorldHint: false },
}))

export function createMcpServer(ask: AskRest): Server {
  const server = new Server(
    { name: 'dextape', version: VERSION },
    { capabilities: { tools: {} }, instructions: INSTRUCTIONS },
  )
  server.setRequestHandler(ListToolsRequestSchema, () => ({ tools: DECLARED }))
  server.setRequestHandler(CallToolRequestSchema, async ({ params }) => {
    const tool = TOOLS.find(({ name }) => name === params.name)
    if (tool === undefined) throw unknownTool(params.name)
    const unknown = unknownArgument(tool, params.arguments ?? {})
    return unknown ?? callTool(tool, params.arguments ?? {}, ask)
  })
  return server
}

async function callTool(tool: Tool, given: Record<string, unknown>, ask: AskRest): Promise<CallToolResult> {
  let answer: ToolAnswer
  try {
    answer = await ask(requestOf(tool, given))
  } catch (error) {
    return failure(error instanceof Error ? error.message : String(error))
  }
  const body = parsed(answer.text) as { data?: unknown; detail?: string; code?: string; msg?: string } | undefined
  if (answer.status !== 200) {
    const code = body?.code === undefined ? '' : ` (${body.code})`
    return failure(`${body?.detail ?? `The server answered ${answer.status}`}${code}`)
  }
  const data = body?.data ?? null
  const asOf = answer.header('x-as-of') ?? ''
  // SQL is answered from the store, up to a seq of each chain; the rest from memory, at a chain time.
  const isSql = tool.operation.path.startsWith('/v2/sql')
  const reason = answer.header('x-reason')
  const head = {
    ...(asOf === '' ? {} : { [isSql ? 'as_of_seq' : 'as_of_time']: asOf }),
    ...(reason === undefined ? {} : { reason }),
  }
  return { content: [{ type: 'text', text: compactText(head, data === null ? null : (tool.pick?.(data) ?? data)) }] }
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

function failure(text: string): CallToolResult {
  return { isError: true, content: [{ type: 'text', text }] }
}

/** A misspelt argument would otherwise be ignored, and the answer be one to another question. */
function unknownArgument(tool: Tool, given: Record<string, unknown>): CallToolResult | undefined {
  const known = Object.keys(inputSchema(tool).properties as object)
  const unknown = Object.keys(given).find((name) => !known.includes(name))
  if (unknown === undefined) return undefined
  const expected = known.length === 0 ? 'It takes no arguments.' : `It takes ${known.join(', ')}.`
  return failure(`Unknown argument "${unknown.slice(0, 60)}" of ${tool.name}. ${expected}`)
}

function unknownTool(name: string): McpError {
  const known = TOOLS.map((tool) => tool.name).join(', ')
  return new McpError(ErrorCode.InvalidParams, `Unknown tool "${name.slice(0, 60)}". Expected one of ${known}.`)
}

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
