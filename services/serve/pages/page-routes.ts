/** Serves the pages and the API documents, without a key. */
import { createHash } from 'node:crypto'
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { dirname, extname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { brotliCompressSync, constants, gzipSync } from 'node:zlib'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { ConfigError } from '../../core/domain/errors.js'
import { type DocumentOptions, documents, documentText } from '../documents/build-documents.js'

/** Pages with their own path. */
const PAGES: Record<string, string> = { 'reference.html': '/reference' }

/** Addresses of the dashboard's views: it reads the address itself, so a reload keeps the place. */
const VIEWS = [
  ...['/', '/markets', '/launchpad', '/compare', '/watchlist', '/system', '/sql'],
  ...['/token/:chain/:id', '/pair/:chain/:id', '/wallet/:chain/:id'],
]

const HEADERS = {
  'content-security-policy':
    "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self' ws: wss:; img-src 'self' data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
  'x-content-type-options': 'nosniff',
  'referrer-policy': 'no-referrer',
}
/** Revalidated on each load (304 if unchanged), so that a new version shows at once. */
const REVALIDATED = 'no-cache'
/** Its name contains a hash of its content. */
const IMMUTABLE = 'public, max-age=31536000, immutable'

export function addPages(app: FastifyInstance, options: DocumentOptions): void {
  addDashboard(app)
  for (const file of readAssets(folderOf(PAGES_FOLDER, 'reference.html'))) {
    route(app, PAGES[file.name] ?? `/pages/${file.name}`, file)
    // Browsers request it themselves for pages without an icon link, such as /status.
    if (file.name === 'icon.svg') route(app, '/favicon.ico', file)
  }
  addDocuments(app, options)
}

/** Built on the first request for one, so that they do not delay a start. */
function addDocuments(app: FastifyInstance, options: DocumentOptions): void {
  let built: ReturnType<typeof documents> | undefined
  const document = (
    url: string,
    type: string,
    text: (of: ReturnType<typeof documents>) => string | Promise<string>,
  ) => {
    let made: Asset | undefined
    app.get(url, async (request, reply) => {
      built ??= documents(options)
      made ??= asset(url.slice(1), type, Buffer.from(await text(built)))
      return send(request, reply, made)
    })
  }
  document('/openapi.json', 'application/json; charset=utf-8', ({ openapi }) => documentText(openapi))
  document('/asyncapi.json', 'application/json; charset=utf-8', ({ asyncapi }) => documentText(asyncapi))
  document('/openapi.yaml', 'application/yaml; charset=utf-8', async ({ openapi }) => {
    const { stringify } = await import('yaml')
    return stringify(openapi)
  })
}

function addDashboard(app: FastifyInstance): void {
  const folder = folderOf(DASHBOARD_FOLDER, 'index.html')
  const index = readAssets(folder).find(({ name }) => name === 'index.html')
  for (const url of VIEWS) if (index !== undefined) route(app, url, index)
  for (const file of readAssets(join(folder, 'assets'))) route(app, `/assets/${file.name}`, file, IMMUTABLE)
}

function route(app: FastifyInstance, url: string, file: Asset, caching = REVALIDATED): void {
  app.get(url, (request, reply) => send(request, reply, file, caching))
}

function send(request: FastifyRequest, reply: FastifyReply, file: Asset, caching = REVALIDATED): FastifyReply {
  const { type, etag, body } = file
  reply.headers(HEADERS).headers({ etag, 'cache-control': caching, vary: 'accept-encoding' })
  if (request.headers['if-none-match'] === etag) return reply.code(304).send()
  const encoding = encodingOf(request.headers['accept-encoding'])
  reply.type(type)
  if (encoding === undefined || body.length < LEAST_COMPRESSED_BYTES) return reply.send(body)
  file.compressed[encoding] ??= COMPRESS[encoding](body)
  return reply.header('content-encoding', encoding).send(file.compressed[encoding])
}

const LEAST_COMPRESSED_BYTES = 1000
type Encoding = 'br' | 'gzip'
const COMPRESS: Record<Encoding, (body: Buffer) => Buffer> = {
  br: (body) => brotliCompressSync(body, { params: { [constants.BROTLI_PARAM_QUALITY]: 9 } }),
  gzip: (body) => gzipSync(body, { level: 9 }),
}

function encodingOf(accepted: string | string[] | undefined): Encoding | undefined {
  const names = String(accepted ?? '')
    .split(',')
    .map((part) => part.trim())
  return (['br', 'gzip'] as const).find((name) => names.some((part) => part === name || part.startsWith(`${name};`)))
}

/** `compressed`: made on the first request for it, then kept. */
export type Asset = {
  name: string
  type: string
  etag: string
  body: Buffer
  compressed: Partial<Record<Encoding, Buffer>>
}

const TYPES: Record<string, string> = {
  '.html': 'text/html; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.svg': 'image/svg+xml',
}

function readAssets(folder: string): Asset[] {
  return readdirSync(folder)
    .filter((name) => TYPES[extname(name)] !== undefined)
    .map((name) => asset(name, TYPES[extname(name)] ?? '', readFileSync(join(folder, name))))
}

function asset(name: string, type: string, body: Buffer): Asset {
  const etag = `"${createHash('sha256').update(body).digest('base64url').slice(0, 22)}"`
  return { name, type, etag, body, compressed: {} }
}

const PAGES_FOLDER = 'services/serve/pages/static'
const DASHBOARD_FOLDER = 'dist/dashboard'

/** The folder of the checkout, package or image that has this file. */
function folderOf(folder: string, file: string): string {
  for (let at = dirname(fileURLToPath(import.meta.url)); ; at = dirname(at)) {
    const found = join(at, folder)
    if (existsSync(join(found, file))) return found
    if (dirname(at) === at)
      throw new ConfigError({
        code: 'pages_missing',
        what: `Page files not found: ${folder}`,
        fix: 'Run from a complete package or image. In a checkout, run `npm run build`.',
      })
  }
}
