/** The pages' files, read once at the start. They are not compiled: beside the sources and beside dist/ it is the same folder. */
import { createHash } from 'node:crypto'
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { dirname, extname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { ConfigError } from '../../core/domain/errors.js'

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
        what: 'The pages (services/serve/pages/static) are not beside the program',
        fix: 'Run it from a whole checkout or image',
      })
  }
}
