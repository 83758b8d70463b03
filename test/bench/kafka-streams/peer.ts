/** The peer as a Java process. Its jars are fetched once with Maven into the user's cache. */
import { spawn } from 'node:child_process'
import { existsSync, mkdirSync, mkdtempSync, renameSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { repositoryRoot } from '../../../schemas/avro.js'
import { holding, run } from '../../rig/python/venv.js'
import { cpuSecondsOf } from '../../rig/servers/figures.js'
import { USER_CACHE } from '../../rig/user-cache.js'

const HERE = join(repositoryRoot(), 'test/bench/kafka-streams')
const JARS = join(USER_CACHE, 'kafka-streams-4.1.0')

export async function fetchPeer(): Promise<void> {
  if (existsSync(JARS)) return
  mkdirSync(USER_CACHE, { recursive: true })
  await holding(`${JARS}.lock`, async () => {
    if (existsSync(JARS)) return
    const part = `${JARS}.part`
    rmSync(part, { recursive: true, force: true })
    const goal = 'org.apache.maven.plugins:maven-dependency-plugin:3.8.1:copy-dependencies'
    const { code, out } = await run('mvn', ['-B', '-q', '-f', join(HERE, 'pom.xml'), goal, `-DoutputDirectory=${part}`])
    if (code !== 0) throw new Error(`Maven could not fetch Kafka Streams (apt install maven?):\n${out}`)
    renameSync(part, JARS)
  })
}

/** Seconds from its first swap to the last one, and CPU seconds of the whole process. */
export async function runPeer(brokers: string, topic: string, output: string, swaps: number) {
  const folder = mkdtempSync(join(tmpdir(), 'dextape-peer-'))
  try {
    const compiled = await run('javac', ['-d', folder, '-cp', join(JARS, '*'), join(HERE, 'CandlePeer.java')])
    if (compiled.code !== 0) throw new Error(`javac failed (apt install openjdk-17-jdk-headless?):\n${compiled.out}`)
    const place = [brokers, topic, output, String(swaps), join(folder, 'state')]
    const { cpuS, text } = await watched(['-cp', `${join(JARS, '*')}:${folder}`, 'CandlePeer', ...place])
    const wallS = Number(/^seconds (\S+)$/m.exec(text)?.[1])
    if (!(wallS > 0)) throw new Error(`the Kafka Streams peer gave no measurement:\n${text.slice(-2000)}`)
    return { wallS, cpuS }
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

const SAMPLE_MS = 100

async function watched(args: readonly string[]): Promise<{ cpuS: number; text: string }> {
  const child = spawn('java', args, { stdio: ['ignore', 'pipe', 'pipe'] })
  let [cpuS, text] = [0, '']
  for (const stream of [child.stdout, child.stderr])
    stream.setEncoding('utf8').on('data', (more: string) => {
      text += more
    })
  const sample = setInterval(() => {
    cpuS = child.pid === undefined ? 0 : cpuSecondsOf(child.pid)
  }, SAMPLE_MS)
  child.once('exit', () => clearInterval(sample))
  await new Promise((resolve) => child.once('close', resolve))
  return { cpuS, text }
}
