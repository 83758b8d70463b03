/** The data directory: created or found, writable, of a version this program can read. */
import { accessSync, constants, existsSync, mkdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { ConfigError } from '../domain/errors.js'

/** Raised when a part's files change so that an older program would misread them. */
export const DATA_DIR_VERSION = 1

export type DataDir = {
  path: string
  version: number
  /** Where each part keeps its files. */
  logPath: string
  statePath: string
  /** Checkpoints of replays, beside the live ones. */
  replayPath: string
  storePath: string
  sourcesPath: string
  keysPath: string
  lockPath: string
}

/** For services: creates what is missing. */
export function openDataDir(path: string): DataDir {
  try {
    makeFolders(path)
  } catch (cause) {
    throw unusable(path, 'cannot be created', cause)
  }
  checkAccess(path)
  const versionFile = join(path, 'VERSION')
  if (!existsSync(versionFile)) {
    try {
      writeFileSync(versionFile, `${DATA_DIR_VERSION}\n`)
    } catch (cause) {
      throw unusable(path, 'cannot be written', cause)
    }
  }
  return describeDir(path)
}

/** One by one: Node's own recursive mkdir never returns where the file system refuses with ENOENT, as /proc does. */
function makeFolders(path: string): void {
  if (existsSync(path)) return
  makeFolders(dirname(path))
  try {
    mkdirSync(path, { mode: 0o700 })
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error
  }
}

export const isDataDir = (path: string): boolean => existsSync(join(path, 'VERSION'))

/** For commands that read what a service wrote: a mistyped path must not create an empty directory. */
export function findDataDir(path: string): DataDir {
  if (!isDataDir(path)) {
    throw new ConfigError({
      code: 'data_dir_missing',
      what: `No data directory at ${path}`,
      fix: 'Run `dextape up` first, or set DEXTAPE_DATA_DIR to an existing one.',
    })
  }
  checkAccess(path)
  return describeDir(path)
}

function checkAccess(path: string): void {
  try {
    if (statSync(path).isDirectory()) return accessSync(path, constants.R_OK | constants.W_OK | constants.X_OK)
  } catch (cause) {
    throw unusable(path, 'cannot be used', cause)
  }
  throw unusable(path, 'is not a directory', undefined)
}

function describeDir(path: string): DataDir {
  const version = readVersion(path)
  return {
    path,
    version,
    logPath: join(path, 'log'),
    statePath: join(path, 'state'),
    replayPath: join(path, 'replay'),
    storePath: join(path, 'store'),
    sourcesPath: join(path, 'sources'),
    keysPath: join(path, 'keys'),
    lockPath: join(path, 'up.lock'),
  }
}

function readVersion(path: string): number {
  const file = join(path, 'VERSION')
  let text: string
  try {
    text = readFileSync(file, 'utf8').trim()
  } catch (cause) {
    throw unusable(path, 'cannot be read', cause)
  }
  if (!/^\d{1,6}$/.test(text)) {
    throw new ConfigError({
      code: 'data_dir_version',
      what: `${file} does not contain a version number`,
      expected: 'a whole number',
      got: JSON.stringify(text.slice(0, 40)),
      fix: 'This is not a Dextape data directory: set DEXTAPE_DATA_DIR to another.',
    })
  }
  const version = Number(text)
  if (version > DATA_DIR_VERSION) {
    throw new ConfigError({
      code: 'data_dir_newer',
      what: `The data directory ${path} was written by a newer version of Dextape`,
      expected: `version ${DATA_DIR_VERSION} or older`,
      got: `version ${version}`,
      fix: 'Run that newer version, or set DEXTAPE_DATA_DIR to another directory.',
    })
  }
  return version
}

function unusable(path: string, why: string, cause: unknown): ConfigError {
  const code = (cause as NodeJS.ErrnoException | undefined)?.code
  const reason = code === 'EACCES' || code === 'EPERM' || code === 'EROFS' ? 'permission denied' : (code ?? why)
  return new ConfigError({
    code: 'data_dir_unusable',
    what: `The data directory ${path} ${why}: ${reason}`,
    fix: 'Give this user read and write permission, or set DEXTAPE_DATA_DIR to another directory.',
    cause,
  })
}
