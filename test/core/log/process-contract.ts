/** The contract of a log between processes. Each implementation passes it with its own writer process. */
import { type ChildProcess, type StdioOptions, spawn } from 'node:child_process'
import { once } from 'node:events'
import { describe, expect, it } from 'vitest'
import type { EventLog, LogRecord } from '../../../services/core/log/port.js'
import { countOf, seedOf } from '../../rig/counts.js'
import type { WriterTask, WrittenValue } from '../../rig/log-writer.js'
import { createRandom } from '../../rig/market/random.js'
import { entry } from './contract.js'

export type WriterOrder = Omit<WriterTask, 'at'>

export type ProcessContract = {
  open(): Promise<EventLog>
  /** Node arguments for a process that appends as ordered and prints `ready`, `ack <batch> <offset> <size>`, `done`. */
  writer(order: WriterOrder): string[]
}

type Ack = { batch: number; offset: number; size: number }
type Writer = { child: ChildProcess; acks(): Ack[]; line(pattern: RegExp): Promise<void> }

function spawnWriter(command: readonly string[]): Writer {
  const stdio: StdioOptions = ['ignore', 'pipe', 'inherit']
  const child = spawn(process.execPath, command, { stdio })
  let output = ''
  let heard = () => {}
  child.stdout?.setEncoding('utf8').on('data', (text: string) => {
    output += text
    heard()
  })
  return {
    child,
    acks: () =>
      [...output.matchAll(/^ack (\d+) (\d+) (\d+)\n/gm)].map(([, batch, offset, size]) => ({
        batch: Number(batch),
        offset: Number(offset),
        size: Number(size),
      })),
    line: (pattern) =>
      new Promise((resolve, reject) => {
        heard = () => {
          if (pattern.test(output)) resolve()
        }
        child.once('close', () =>
          reject(new Error(`the writer ended without saying ${pattern}: ${output.slice(-200)}`)),
        )
        heard()
      }),
  }
}

async function readAll(log: EventLog, topic: string): Promise<LogRecord[]> {
  const all: LogRecord[] = []
  for (;;) {
    const records = await log.read(topic, { from: all.length })
    if (records.length === 0) return all
    all.push(...records)
  }
}

/** Asserts offsets without gaps, and each batch whole, contiguous and at most once. Returns the batches' first offsets. */
function assertWholeBatches(records: LogRecord[]): Map<string, number> {
  const firsts = new Map<string, number>()
  let size = 0
  for (const [position, record] of records.entries()) {
    expect(record.offset).toBe(position)
    const written = JSON.parse(Buffer.from(record.value).toString()) as WrittenValue
    const batch = `${written.writer}:${written.batch}`
    if (written.index === 0) {
      expect(firsts.has(batch)).toBe(false)
      firsts.set(batch, position)
      size = written.size
    }
    expect([written.size, firsts.get(batch)]).toEqual([size, position - written.index])
  }
  const last = records.at(-1)
  if (last !== undefined) {
    const written = JSON.parse(Buffer.from(last.value).toString()) as WrittenValue
    expect(written.index).toBe(written.size - 1)
  }
  return firsts
}

const lastEntry = entry(JSON.stringify({ writer: 'last', batch: 0, index: 0, size: 1 }), 0, 'last')

export function eventLogProcessContract(name: string, { open, writer: commandOf }: ProcessContract): void {
  const startWriter = (order: WriterOrder) => spawnWriter(commandOf(order))

  describe(`log: several processes, ${name}`, () => {
    it('append to one topic without losing, repeating or splitting a batch, while another follows', async () => {
      const log = await open()
      const topic = 'dex.blocks.eth'
      const writers = ['a', 'b'].map((writer, seed) => startWriter({ topic, writer, batches: 60, seed, inFlight: 5 }))
      const abort = new AbortController()
      const followed: LogRecord[] = []
      const following = (async () => {
        for await (const records of log.follow(topic, { from: 0 }, abort.signal)) {
          followed.push(...records)
          if (records.at(-1)?.key === 'last') abort.abort()
        }
      })()
      await Promise.all(writers.map(({ line }) => line(/^done\n/m)))
      await log.append(topic, [lastEntry])
      await following
      const firsts = assertWholeBatches(followed)
      expect(firsts.size).toBe(121)
      for (const [index, { acks }] of writers.entries()) {
        const writer = ['a', 'b'][index]
        expect(acks().map(({ batch, offset }) => [batch, offset])).toEqual(
          acks().map(({ batch }) => [batch, firsts.get(`${writer}:${batch}`)]),
        )
      }
    }, 60_000)

    it('keep acknowledged batches once after kill -9 during an append; others are whole or absent', async () => {
      const seed = seedOf('logWriterKills')
      console.info(`kill -9 of a log writer: DEXTAPE_TEST_SEED=${seed}`)
      const random = createRandom(seed).next
      const topic = 'dex.blocks.eth'
      const log = await open()
      const acknowledged: [string, number][] = []
      for (let round = 0; round < countOf('logWriterKills'); round++) {
        const writer = `w${round}`
        const { child, acks, line } = startWriter({ topic, writer, batches: 1e9, seed: seed + round, inFlight: 4 })
        const closed = once(child, 'close')
        // Even rounds are killed after an acknowledged append, odd ones possibly before.
        await line(round % 2 === 0 ? /^ack /m : /^ready\n/m)
        await new Promise((resolve) => setTimeout(resolve, 20 + random() * 250))
        child.kill('SIGKILL')
        await closed
        acknowledged.push(...acks().map(({ batch, offset }): [string, number] => [`${writer}:${batch}`, offset]))
      }
      await log.append(topic, [lastEntry])
      const firsts = assertWholeBatches(await readAll(log, topic))
      expect(acknowledged.length).toBeGreaterThan(0)
      expect(acknowledged.map(([batch]) => [batch, firsts.get(batch)])).toEqual(acknowledged)
    }, 60_000)
  })
}
