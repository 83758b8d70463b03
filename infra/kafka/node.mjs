// One KRaft node per directory: formatted at its first start, then a Java process that writes to kafka.log.
import { spawn } from 'node:child_process'
import { createHash } from 'node:crypto'
import { once } from 'node:events'
import {
  cpSync,
  createWriteStream,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { archiveOptions } from './class-archive.mjs'
import { JARS } from './jars.mjs'
import { BrokerError, run } from './programs.mjs'

const SETTINGS = fileURLToPath(new URL('server.properties', import.meta.url))
const LOGGING = fileURLToPath(new URL('log4j2.properties', import.meta.url))
const CLUSTER_ID = 'ZGV4dGFwZS1sb2NhbC1rYQ'
const STARTED = 'Kafka Server started'
const LAST_CHARACTERS = 3_000

/** Only the C1 compiler and the serial collector: halves the start time, and is enough for development. */
const QUICK = ['-XX:TieredStopAtLevel=1', '-XX:+UseSerialGC', '-Xms64m', '-Xmx512m', '-XX:+ExitOnOutOfMemoryError']
const CLASSES = ['-cp', join(JARS, '*')]

export const logFileOf = (directory) => join(directory, 'kafka.log')

/** The broker process of this directory and its port; undefined if none is running. */
export function runningOn(directory) {
  try {
    const { pid, port } = JSON.parse(readFileSync(join(directory, 'broker.json'), 'utf8'))
    process.kill(pid, 0)
    return { pid, port }
  } catch {
    return undefined
  }
}

/** Listens on `port` (clients) and `port + 1` (the controller). `ready` resolves once it serves, `ended` when it has exited. */
export async function startNode(directory, port, options = archiveOptions(), extra = { scram: [] }) {
  const holder = runningOn(directory)
  if (holder !== undefined)
    throw new BrokerError(`A broker (pid ${holder.pid}, port ${holder.port}) is already running on ${directory}`)
  mkdirSync(directory, { recursive: true })
  const settings = join(directory, 'server.properties')
  // Of a setting that is there twice, the last counts.
  const more = extra.file === undefined ? '' : readFileSync(extra.file, 'utf8')
  // It may hold passwords.
  writeFileSync(settings, readFileSync(SETTINGS, 'utf8') + placeOf(directory, port) + more, { mode: 0o600 })
  if (!existsSync(join(directory, 'data/meta.properties')))
    await format(join(directory, 'data'), settings, extra.scram, more === '')

  // Of an option that is there twice, the last counts.
  const heap = extra.heap === undefined ? [] : [`-Xmx${extra.heap}`]
  // With settings of its own it may use TLS, which C1 alone makes slow.
  const compilers = more === '' ? [] : ['-XX:TieredStopAtLevel=4']
  const logging = `-Dlog4j2.configurationFile=${LOGGING}`
  const java = [...QUICK, ...heap, ...compilers, ...options, logging, ...CLASSES, 'kafka.Kafka', settings]
  const child = spawn('java', java, { stdio: ['ignore', 'pipe', 'pipe'] })
  const logFile = createWriteStream(logFileOf(directory), { flags: 'a' })
  const ended = once(child, 'close').then(([code, signal]) => {
    rmSync(join(directory, 'broker.json'), { force: true })
    return code ?? signal
  })
  const ready = startOf(child, ended, logFile)
  await once(child, 'spawn')
  writeFileSync(join(directory, 'broker.json'), JSON.stringify({ pid: child.pid, port }))
  return { pid: child.pid, ready, ended, signal: (name) => child.kill(name) }
}

/** Kafka's own tool formats once for these settings; later nodes get a copy, which saves starting Java twice. */
async function format(data, settings, scram, isPlain) {
  const formatted = `${JARS}-formatted-${createHash('sha256').update(readFileSync(SETTINGS)).digest('hex').slice(0, 12)}`
  const isCommon = isPlain && scram.length === 0
  if (isCommon && existsSync(formatted)) return cpSync(formatted, data, { recursive: true })
  const tool = ['kafka.tools.StorageTool', 'format', '-t', CLUSTER_ID, '-c', settings, ...scram.flatMap(addScram)]
  await run('java', [...QUICK, ...archiveOptions(), ...CLASSES, ...tool])
  if (!isCommon) return
  const part = mkdtempSync(`${formatted}.part-`)
  try {
    cpSync(data, part, { recursive: true })
    // Renamed last: a folder of this name is complete. Of two at the same time, one fails.
    renameSync(part, formatted)
  } catch {
    rmSync(part, { recursive: true, force: true })
  }
}

function addScram(user) {
  const [name, password] = user.split(':')
  return ['SCRAM-SHA-256', 'SCRAM-SHA-512'].flatMap((kind) => [
    '--add-scram',
    `${kind}=[name=${name},password=${password}]`,
  ])
}

function placeOf(directory, port) {
  return [
    `\nlisteners=PLAINTEXT://127.0.0.1:${port},CONTROLLER://127.0.0.1:${port + 1}`,
    `advertised.listeners=PLAINTEXT://127.0.0.1:${port}`,
    `controller.quorum.voters=1@127.0.0.1:${port + 1}`,
    `log.dirs=${join(directory, 'data')}\n`,
  ].join('\n')
}

function startOf(child, ended, logFile) {
  let last = ''
  return new Promise((resolve, reject) => {
    for (const stream of [child.stdout, child.stderr])
      stream.setEncoding('utf8').on('data', (text) => {
        logFile.write(text)
        last = (last + text).slice(-LAST_CHARACTERS)
        if (last.includes(STARTED)) resolve()
      })
    ended.then((how) => reject(new BrokerError(`The broker exited (${how}) during its start:\n${last}`)), reject)
  })
}
