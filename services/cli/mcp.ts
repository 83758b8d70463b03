/** `dextape mcp`: the Model Context Protocol on standard input and output, as a client of a running server. */
import { type Cli, configOfExistingData, type GlobalOptions, keyOf, type World } from './context.js'
import { createRestClient } from './rest-client.js'

type McpOptions = GlobalOptions & { key?: string; url?: string }

export function addMcp({ program, world, act }: Cli): void {
  program
    .command('mcp')
    .description('Connect an assistant to a running server (Model Context Protocol on stdio)')
    .option('-k, --key <key>', 'API key; run_sql needs a plan with SQL (DEXTAPE_API_KEY)')
    .option('-u, --url <url>', 'REST URL (default: the configured host and port)')
    .addHelpText(
      'after',
      [
        '\nAn assistant starts this command itself: docs/mcp.md has its settings. A running server also answers the protocol',
        'over HTTP, at /mcp of the REST URL.',
        '\nExample:\n  DEXTAPE_API_KEY=$KEY dextape mcp --url http://127.0.0.1:8080',
      ].join('\n'),
    )
    .action(act<McpOptions>((options) => serveMcp(world, options)))
}

async function serveMcp(world: World, options: McpOptions): Promise<void> {
  const config = configOfExistingData(world, options)
  const client = createRestClient(
    config,
    options.url,
    keyOf(config, options, 'dextape keys create --name NAME --plan pro'),
  )
  const [{ StdioServerTransport }, { createMcpServer }] = await Promise.all([
    import('@modelcontextprotocol/sdk/server/stdio.js'),
    import('../serve/mcp/mcp-server.js'),
  ])
  const server = createMcpServer(async ({ method, path, body }) => {
    const headers = { 'x-envelope': 'always', ...(body === undefined ? {} : { 'content-type': 'application/json' }) }
    const answer = await client.request(path, {
      ...{ method, headers },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    })
    return { status: answer.status, header: (name) => answer.headers.get(name) ?? undefined, text: await answer.text() }
  })
  const transport = new StdioServerTransport()
  const ended = new Promise<void>((resolve) => {
    server.onclose = resolve
    // The transport does not notice that its client is gone.
    process.stdin.once('end', resolve).once('close', resolve)
    process.once('SIGINT', resolve).once('SIGTERM', resolve)
  })
  await server.connect(transport)
  await ended
  await server.close()
}
