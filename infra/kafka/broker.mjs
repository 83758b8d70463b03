#!/usr/bin/env node
// A Kafka broker for machines without Docker, for development and tests. Needs Java 17, and Maven the first time.
import { connect } from 'node:net'
import { resolve } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { parseArgs } from 'node:util'
import { isArchived, makeArchive } from './class-archive.mjs'
import { fetchJars, JARS, KAFKA_VERSION, withCache } from './jars.mjs'
import { logFileOf, runningOn, startNode } from './node.mjs'
import { BrokerError, requireJava } from './programs.mjs'

const HELP = `node infra/kafka/broker.mjs <command> [options]

A single Kafka ${KAFKA_VERSION} node for development and tests, on 127.0.0.1.

  fetch    Download the broker's jars (54 MB, about two minutes) to ${JARS}
  start    Start a broker in the foreground, after a fetch if needed; Ctrl-C stops it
  stop     Stop the broker of the directory
  status   Print whether it is running and reachable; exit code 1 if not

  --port <n>           client port (9092); the controller uses the next one
  --dir <path>         directory of data, settings and kafka.log (.dextape-kafka)
  --settings <file>    start: more settings, which replace those of this program
  --heap <size>        start: largest heap of the JVM (512m)
  --scram <user>       start: a user of SCRAM (name:password), created with the directory; may be repeated
  --until-stdin-ends   start: kill the broker when stdin closes, for programs that start it
`

const STOP_WITHIN_MS = 20_000
const ANSWER_WITHIN_MS = 2_000

const report = (text) => void process.stderr.write(`kafka: ${text}\n`)

async function start({ directory, port, untilStdinEnds, extra }) {
  await prepare()
  const node = await startNode(directory, port, undefined, extra)
  for (const name of ['SIGINT', 'SIGTERM'])
    process.on(name, () => {
      node.signal('SIGTERM')
      setTimeout(() => node.signal('SIGKILL'), STOP_WITHIN_MS).unref()
    })
  if (untilStdinEnds) process.stdin.resume().once('close', () => node.signal('SIGKILL'))
  await node.ready
  process.stdout.write(`Kafka ${KAFKA_VERSION} serves 127.0.0.1:${port} (pid ${node.pid})\n`)
  process.stdout.write(`log ${logFileOf(directory)}\n`)
  const how = await node.ended
  // 143: ended by SIGTERM, as requested.
  process.exit(how === 0 || how === 143 ? 0 : 1)
}

async function stop({ directory }) {
  const running = runningOn(directory)
  if (running === undefined) return report(`no broker is running on ${directory}`)
  process.kill(running.pid, 'SIGTERM')
  const deadline = Date.now() + STOP_WITHIN_MS
  while (runningOn(directory) !== undefined) {
    if (Date.now() > deadline)
      throw new BrokerError(
        `Broker did not stop within ${STOP_WITHIN_MS / 1000} s (pid ${running.pid}). See ${logFileOf(directory)}, then run: kill -9 ${running.pid}`,
      )
    await sleep(100)
  }
  report(`stopped (pid ${running.pid})`)
}

async function status({ directory }) {
  const running = runningOn(directory)
  const answers = running !== undefined && (await isOpen(running.port))
  if (running === undefined) report(`no broker is running on ${directory}`)
  else report(`pid ${running.pid} ${answers ? 'serves' : 'is unreachable on'} 127.0.0.1:${running.port}`)
  process.exitCode = answers ? 0 : 1
}

function isOpen(port) {
  return new Promise((done) => {
    const socket = connect({ port, host: '127.0.0.1', timeout: ANSWER_WITHIN_MS })
    const end = (open) => {
      socket.destroy()
      done(open)
    }
    socket.once('connect', () => end(true))
    socket.once('error', () => end(false))
    socket.once('timeout', () => end(false))
  })
}

async function prepare() {
  requireJava()
  if (isArchived()) return
  await withCache(report, async () => {
    await fetchJars(report)
    await makeArchive(startNode, report)
  })
}

async function fetch() {
  await prepare()
  process.stdout.write(`Kafka ${KAFKA_VERSION} is in ${JARS}\n`)
}

function read(args) {
  const options = {
    port: { type: 'string', default: '9092' },
    dir: { type: 'string', default: '.dextape-kafka' },
    settings: { type: 'string' },
    heap: { type: 'string' },
    scram: { type: 'string', multiple: true, default: [] },
    'until-stdin-ends': { type: 'boolean', default: false },
    help: { type: 'boolean', short: 'h', default: false },
  }
  const { values, positionals } = parseArgs({ args, options, allowPositionals: true })
  const port = Number(values.port)
  if (!Number.isInteger(port) || port < 1 || port > 65_534)
    throw new BrokerError(`--port must be an integer from 1 to 65534, got "${values.port}"`)
  if (values.heap !== undefined && !/^\d+[kmg]$/i.test(values.heap))
    throw new BrokerError(`--heap must be a size such as 256m, got "${values.heap}"`)
  const extra = { file: values.settings && resolve(values.settings), scram: values.scram, heap: values.heap }
  const settings = { directory: resolve(values.dir), port, untilStdinEnds: values['until-stdin-ends'], extra }
  return { command: values.help ? 'help' : positionals.join(' '), settings }
}

try {
  const { command, settings } = read(process.argv.slice(2))
  const commands = { fetch, start, stop, status, help: () => void process.stdout.write(HELP) }
  const chosen = Object.hasOwn(commands, command) ? commands[command] : undefined
  if (chosen === undefined)
    throw new BrokerError(`Unknown command "${command}". Use fetch, start, stop, status or --help`)
  await chosen(settings)
} catch (error) {
  const known = error instanceof BrokerError || error.code?.startsWith('ERR_PARSE_ARGS')
  report(known ? error.message : error.stack)
  process.exit(1)
}
