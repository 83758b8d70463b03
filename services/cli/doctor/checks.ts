/** The checks of `dextape doctor`. Each returns findings and never throws. */
import { existsSync, readdirSync, statfsSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { type Config, type KafkaChoice, withoutSecrets } from '../../core/config/index.js'
import { findDataDir, isDataDir, openDataDir } from '../../core/data-dir/data-dir.js'
import { lockHolder } from '../../core/data-dir/lock.js'
import { type Repair, repairsFileOf } from '../../core/data-dir/repairs.js'
import { splitUrl } from '../../core/log/registry-http.js'
import { type ClientTlsFiles, fetchWith } from '../../core/runtime/client-tls.js'
import { readJsonFile } from '../../core/runtime/json-file.js'
import { checkPortFree } from '../../core/runtime/ports.js'
import { findChangedFiles } from '../../core/store/store-files.js'
import { openKafka } from '../../processes/platform/kafka.js'
import { problemOf } from '../../processes/repair/heal-at-start.js'
import { chooseTransport, GLIBC_FIX } from '../../serve/push/transport/choose-transport.js'

export type Finding = { level: 'ok' | 'warn' | 'fail'; what: string; fix?: string }

const NODE_MAJOR_MIN = 20
const LOW_SPACE_BYTES = 1024 ** 3
const CONNECT_TIMEOUT_MS = 3000

export function checkNode(version: string): Finding {
  const major = Number(/^v(\d+)/.exec(version)?.[1])
  if (major >= NODE_MAJOR_MIN) return { level: 'ok', what: `Node ${version}` }
  return { level: 'fail', what: `Node ${version} is too old`, fix: `install Node ${NODE_MAJOR_MIN} or newer` }
}

export async function checkNative(): Promise<Finding[]> {
  const parts: [name: string, use: string, load: () => Promise<unknown>, fix: string][] = [
    ['lmdb', 'the embedded log', () => import('lmdb'), 'run `npm ci` again on this machine'],
    [
      'chdb',
      'the embedded store',
      () => import('chdb/connection'),
      `run \`npm install --no-save @chdb/lib-${process.platform}-${process.arch}${process.platform === 'linux' ? '-gnu' : ''}\`, or set CLICKHOUSE_URL`,
    ],
  ]
  const findings: Finding[] = []
  for (const [name, use, load, fix] of parts) {
    try {
      await load()
      findings.push({ level: 'ok', what: `${name} loads (${use})` })
    } catch (error) {
      findings.push({ level: 'fail', what: `${name} does not load (${use}): ${firstLine(error)}`, fix })
    }
  }
  return findings
}

export function checkPushServer({ pushServer }: Pick<Config, 'pushServer'>): Finding {
  try {
    const { server, fallbackReason } = chooseTransport(pushServer)
    if (fallbackReason === null) return { level: 'ok', what: `${server} loads (the push server)` }
    return { level: 'warn', what: `${fallbackReason}; using ${server} instead, which is slower`, fix: GLIBC_FIX }
  } catch (error) {
    return { level: 'fail', what: (error as Error).message }
  }
}

/** For a missing directory: whether it can be created. */
export function checkDataDir(config: Config): Finding[] {
  const findings: Finding[] = []
  const path = config.dataDir
  try {
    const dir = existsSync(path) ? openDataDir(path) : undefined
    if (dir === undefined) {
      const parent = nearestExisting(path)
      findings.push({ level: 'ok', what: `data directory ${path} will be created in ${parent}` })
    } else {
      const holder = lockHolder(findDataDir(path))
      const inUse = holder === undefined ? '' : `, in use by process ${holder.pid}`
      findings.push({ level: 'ok', what: `data directory ${path}, version ${dir.version}${inUse}` })
    }
  } catch (error) {
    findings.push({ level: 'fail', what: (error as Error).message })
    return findings
  }
  const { bavail, bsize } = statfsSync(nearestExisting(path))
  const freeBytes = bavail * bsize
  const free = `${(freeBytes / 1024 ** 3).toFixed(1)} GB free at ${path}`
  findings.push(
    freeBytes < LOW_SPACE_BYTES
      ? { level: 'warn', what: free, fix: 'free some space: blocks are never deleted' }
      : { level: 'ok', what: free },
  )
  return findings
}

/** Files of a directory in use change while they are read: a running `up` checks them itself. */
export function checkDamage(config: Config): Finding[] {
  if (!isDataDir(config.dataDir)) return []
  const dir = findDataDir(config.dataDir)
  const repairs = (readJsonFile(repairsFileOf(dir.path)) as Repair[] | undefined) ?? []
  const unfinished = repairs.map(
    ({ what, answer }): Finding => ({ level: 'warn', what, fix: `being repaired: ${answer}` }),
  )
  if (lockHolder(dir) !== undefined) return unfinished
  const { logPath, statePath, sourcesPath, keysPath } = dir
  const states = existsSync(statePath) ? readdirSync(statePath).map((chain) => join(statePath, chain)) : []
  const problems = [logPath, sourcesPath, keysPath, ...states].flatMap((path) => problemOf(path) ?? [])
  const changed = [...problems, ...findChangedFiles(dir.path)]
  if (changed.length === 0) return [...unfinished, { level: 'ok', what: `no damaged file in ${dir.path}` }]
  const fix = 'start `dextape up` or run `dextape repair`'
  return [...unfinished, ...changed.slice(0, 5).map((what): Finding => ({ level: 'fail', what, fix }))]
}

function nearestExisting(path: string): string {
  let folder = path
  while (!existsSync(folder) && dirname(folder) !== folder) folder = dirname(folder)
  return folder
}

/** A port in use is expected while `up` runs on this data directory. */
export async function checkPort(config: Config, port: number, variable: string): Promise<Finding> {
  try {
    await checkPortFree(config.host, port, variable)
    return { level: 'ok', what: `port ${port} is free (${variable})` }
  } catch (error) {
    if (isRunning(config)) return { level: 'warn', what: `port ${port} is in use, probably by the running dextape` }
    return { level: 'fail', what: (error as Error).message }
  }
}

function isRunning(config: Config): boolean {
  try {
    return lockHolder(findDataDir(config.dataDir)) !== undefined
  } catch {
    return false
  }
}

/** Connects as the services do, so that names, permissions and versions are checked too. */
export async function checkKafka(choice: KafkaChoice): Promise<Finding> {
  const brokers = choice.brokers.join(', ')
  const log = openKafka(choice, { onUnreachable: () => {}, onReachable: () => {} }, CONNECT_TIMEOUT_MS)
  try {
    const topics = await log.topicNames()
    return { level: 'ok', what: `Kafka at ${brokers} responds; ${topics.length} Dextape topics` }
  } catch (error) {
    return { level: 'fail', what: `Kafka at ${brokers}: ${(error as Error).message}` }
  } finally {
    await log.close()
  }
}

export async function checkRegistry({ url, tls }: { url: string; tls?: ClientTlsFiles }): Promise<Finding> {
  const { address, authorization } = splitUrl(url)
  return checkHttp('Schema registry', url, 'SCHEMA_REGISTRY_URL', () => get(`${address}/subjects`, authorization, tls))
}

/** A query, not /ping, which answers anybody. */
export async function checkStore({ url, tls }: { url: string; tls?: ClientTlsFiles }): Promise<Finding> {
  const { origin, username } = new URL(url)
  const headers = username === '' ? {} : splitUrl(url).authorization
  return checkHttp('ClickHouse', url, 'CLICKHOUSE_URL', () => get(`${origin}/?query=SELECT%201`, headers, tls))
}

const get = (address: string, headers: { authorization?: string } = {}, tls?: ClientTlsFiles) =>
  (tls === undefined ? fetch : fetchWith(tls))(address, { headers, signal: AbortSignal.timeout(CONNECT_TIMEOUT_MS) })

async function checkHttp(
  name: string,
  url: string,
  variable: string,
  request: () => Promise<Response>,
): Promise<Finding> {
  const address = withoutSecrets(url)
  try {
    const response = await request()
    if (response.ok) return { level: 'ok', what: `${name} at ${address} responds` }
    return { level: 'fail', what: `${name} at ${address} returned HTTP ${response.status}`, fix: `correct ${variable}` }
  } catch (error) {
    const reason = ((error as Error).cause as NodeJS.ErrnoException | undefined)?.code ?? (error as Error).message
    return {
      level: 'fail',
      what: `${name} at ${address} is not reachable (${reason})`,
      fix: `start it or correct ${variable}`,
    }
  }
}

function firstLine(error: unknown): string {
  return (error instanceof Error ? error.message : String(error)).split('\n', 1)[0] ?? ''
}
