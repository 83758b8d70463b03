/** Serves the pages and the API documents, without a key. */
import { createHash } from 'node:crypto'
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { dirname, extname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { ConfigError } from '../../core/domain/errors.js'
import { type DocumentOptions, documents, documentText } from '../documents/build-documents.js'

/** Pages with their own path. */
const PAGES: Record<string, string> = { 'tape.html': '/', 'reference.html': '/reference' }

const HEADERS = {
  'content-security-policy':
    "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self' ws: wss:; img-src 'self' data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
  'x-content-type-options': 'nosniff',
  'referrer-policy': 'no-referrer',
  // Revalidated on each load (304 if unchanged), so that a new version shows at once.
  'cache-control': 'no-cache',
}

export function addPages(app: FastifyInstance, options: DocumentOptions): void {
  for (const file of readAssets()) {
    route(app, PAGES[file.name] ?? `/pages/${file.name}`, file)
    // Browsers request it themselves for pages without an icon link, such as /status.
    if (file.name === 'icon.svg') route(app, '/favicon.ico', file)
  }
  const { openapi, asyncapi } = documents(options)
  const json = 'application/json; charset=utf-8'
  route(app, '/openapi.json', asset('openapi.json', json, Buffer.from(documentText(openapi))))
  // Built on the first request, so that it does not delay startup.
  let openapiYaml: Asset | undefined
  app.get('/openapi.yaml', async (request, reply) => {
    const { stringify: yaml } = await import('yaml')
    openapiYaml ??= asset('openapi.yaml', 'application/yaml; charset=utf-8', Buffer.from(yaml(openapi)))
    return send(request, reply, openapiYaml)
  })
  route(app, '/asyncapi.json', asset('asyncapi.json', json, Buffer.from(documentText(asyncapi))))
}

function route(app: FastifyInstance, url: string, file: Asset): void {
  app.get(url, (request, reply) => send(request, reply, file))
}

function send(request: FastifyRequest, reply: FastifyReply, { type, etag, body }: Asset): FastifyReply {
  reply.headers(HEADERS).header('etag', etag)
  if (request.headers['if-none-match'] === etag) return reply.code(304).send()
  return reply.type(type).send(body)
}

export type Asset = { name: string; type: string; etag: string; body: Buffer }

const TYPES: Record<string, string> = {
  '.html': 'text/html; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.svg': 'image/svg+xml',
}

export function readAssets(folder = assetsFolder()): Asset[] {
  return readdirSync(folder)
    .filter((name) => TYPES[extname(name)] !== undefined)
    .map((name) => asset(name, TYPES[extname(name)] ?? '', readFileSync(join(folder, name))))
}

export function asset(name: string, type: string, body: Buffer): Asset {
  return { name, type, etag: `"${createHash('sha256').update(body).digest('base64url').slice(0, 22)}"`, body }
}

function assetsFolder(): string {
  for (let at = dirname(fileURLToPath(import.meta.url)); ; at = dirname(at)) {
    const found = join(at, 'services', 'serve', 'pages', 'static')
    if (existsSync(join(found, 'tape.html'))) return found
    if (dirname(at) === at)
      throw new ConfigError({
        code: 'pages_missing',
        what: 'Page files not found: services/serve/pages/static',
        fix: 'Run from a complete checkout, package or image.',
      })
  }
}
