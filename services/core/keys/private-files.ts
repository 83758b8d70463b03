/** Files only the owner of the data directory may read: the keys, and the secret that signs WebSocket tokens. */
import { randomBytes } from 'node:crypto'
import { chmodSync, linkSync, mkdirSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { DataDir } from '../data-dir/data-dir.js'
import { ConfigError } from '../domain/errors.js'

export const PRIVATE_FILE_MODE = 0o600
export const PRIVATE_FOLDER_MODE = 0o700
const OTHERS = 0o077

const SECRET_BYTES = 32
const SECRET_FORM = /^[0-9a-f]{64}$/

/**
 * Creates the keys folder, or removes the access an earlier version gave to others. The mode of the data directory itself is
 * not changed: it may be shared on purpose.
 */
export function ensurePrivateKeys(dir: DataDir): void {
  try {
    mkdirSync(dir.keysPath, { recursive: true, mode: PRIVATE_FOLDER_MODE })
    restrictMode(dir.keysPath, PRIVATE_FOLDER_MODE)
    for (const entry of readdirSync(dir.keysPath, { recursive: true, withFileTypes: true })) {
      const mode = entry.isDirectory() ? PRIVATE_FOLDER_MODE : PRIVATE_FILE_MODE
      restrictMode(join(entry.parentPath, entry.name), mode)
    }
  } catch (cause) {
    throw new ConfigError({
      code: 'keys_unusable',
      what: `Cannot make ${dir.keysPath} private: ${(cause as Error).message}`,
      fix: 'Run as the user who owns it, or change its owner.',
      cause,
    })
  }
}

function restrictMode(path: string, mode: number): void {
  const stats = statSync(path, { throwIfNoEntry: false })
  if (stats !== undefined && (stats.mode & OTHERS) !== 0) chmodSync(path, mode)
}

/** Created at the first call. Not in the key store: reading stored hashes must not be enough to sign tokens. */
export function readWsTokenSecret(dir: DataDir): string {
  ensurePrivateKeys(dir)
  const path = join(dir.keysPath, 'ws-token.secret')
  const draft = `${path}.${process.pid}`
  try {
    writeFileSync(draft, `${randomBytes(SECRET_BYTES).toString('hex')}\n`, { mode: PRIVATE_FILE_MODE })
    // A link appears whole or not at all, and never replaces an existing secret.
    linkSync(draft, path)
  } catch (cause) {
    if ((cause as NodeJS.ErrnoException).code !== 'EEXIST') throw cause
  } finally {
    rmSync(draft, { force: true })
  }
  const secret = readFileSync(path, 'utf8').trim()
  if (SECRET_FORM.test(secret)) return secret
  throw new ConfigError({
    code: 'token_secret_unusable',
    what: `${path} does not contain a secret`,
    expected: '64 hexadecimal digits',
    got: `${secret.length} characters`,
    fix: 'Delete the file: the next start creates a new one.',
  })
}
