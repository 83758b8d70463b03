/** The recipes of docs/recipes.md that need a broker or a server. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createCodec } from '../../services/core/log/codec.js'
import { deadTopic } from '../../services/core/log/port.js'
import { inLogRegistry } from '../../services/core/log/registry-in-log.js'
import { jsonLines } from '../ingest/rig.js'
import { startCommand } from '../rig/http/command.js'
import { runHere } from '../rig/http/command-here.js'
import { freshPrefix, openTestLog } from '../rig/kafka/open-log.js'
import { generateRecording } from '../rig/market/generate.js'
import { recipe, runPipe, startsServer } from '../rig/recipes/recipes.js'
import { sharedBroker } from '../rig/servers/shared.js'

const market = generateRecording({
  seed: 3,
  chain: 'eth',
  blocks: 40,
  options: { secondsPerBlock: 2, quietHour: 0, quietDay: 0 },
})
const ENV = { DEXTAPE_HTTP_PORT: '0', DEXTAPE_WS_PORT: '0' }

let cwd: string
beforeAll(async () => {
  cwd = mkdtempSync(join(tmpdir(), 'dextape-recipes-'))
  expect(await runHere(['topics', 'import', '-'], { cwd, stdin: jsonLines(...market) })).toMatchObject({ code: 0 })
})
afterAll(() => rmSync(cwd, { recursive: true, force: true }))

describe('recipes', () => {
  it('Copy a chain to another cluster', async () => {
    const brokers = [await sharedBroker()]
    for (const name of ['here', 'there'])
      writeFileSync(join(cwd, `${name}.json`), JSON.stringify({ kafka: { brokers, topic_prefix: freshPrefix() } }))
    const put = await runHere(['--config', 'here.json', 'topics', 'import', '-'], { cwd, stdin: jsonLines(...market) })
    expect(put).toMatchObject({ code: 0 })
    for (const pipe of recipe('Copy a chain to another cluster')) await runPipe(pipe, cwd)
    const exported = async (file: string) => (await runHere(['--config', file, 'topics', 'export', 'eth'], { cwd })).out
    expect((await exported('there.json')).length).toBeGreaterThan(1000)
    expect(await exported('there.json')).toBe(await exported('here.json'))
    const avro = ['--config', 'there.json', 'topics', 'export', 'eth', '--format', 'avro', '--out', 'there.avro']
    expect(await runHere(avro, { cwd })).toMatchObject({ code: 0 })
    expect(await runHere(['--data-dir', 'back', 'topics', 'import', 'there.avro'], { cwd })).toMatchObject({ code: 0 })
    expect((await runHere(['--data-dir', 'back', 'topics', 'export', 'eth'], { cwd })).out).toBe(
      await exported('here.json'),
    )
  })

  it('Retry dead letters, on a broker: in the past of the chain and at its end', async () => {
    const brokers = await sharedBroker()
    const prefix = freshPrefix()
    const kafka = { brokers: [brokers], topic_prefix: prefix }
    writeFileSync(join(cwd, 'retry.json'), JSON.stringify({ kafka }))
    const dead = [market[20], market.at(-1)]
    const stdin = jsonLines(...market.filter((line) => !dead.includes(line)))
    const config = ['--config', 'retry.json']
    expect(await runHere([...config, 'topics', 'import', '-'], { cwd, stdin })).toMatchObject({ code: 0 })
    const log = openTestLog(brokers, prefix)
    const codec = createCodec(inLogRegistry(log))
    const topic = deadTopic('eth')
    await codec.prepare(topic, ['dead_letter'])
    for (const line of dead) {
      const letter = { chain: 'eth', reason: 'unknown_event', detail: '', source: 'old.jsonl:1', at: 1_704_412_900 }
      const value = codec.encodeDeadLetter(topic, { ...letter, raw: Buffer.from(JSON.stringify(line)) })
      await log.append(topic, [{ key: 'k', value, timestampMs: letter.at * 1000 }])
    }
    await log.close()
    const outs: string[] = []
    for (const pipe of recipe('Retry dead letters'))
      outs.push((await runPipe([[...config, ...(pipe[0] ?? [])]], cwd)).out)
    expect(outs[1]).toBe('Would publish 2 letters of eth in generation 2.\n')
    expect(outs[2]).toContain('Published 2 letters of eth in generation 2, which is live now')
    const { out } = await runHere([...config, 'topics', 'export', 'eth'], { cwd })
    expect(out).toBe((await runHere(['topics', 'export', 'eth'], { cwd })).out)
  })

  it.each(['Replay a day ten times as fast', 'Find the block where it went wrong'])('%s', async (title) => {
    for (const pipe of recipe(title)) {
      const [args = []] = pipe
      if (!startsServer(args)) {
        await runPipe(pipe, cwd)
        continue
      }
      const up = startCommand(args, { cwd, env: ENV })
      const address = await new Promise<string>((resolve, reject) => {
        up.onOutput((out) => {
          const rest = /status {5}curl (http:\S+)\/status/.exec(out)?.[1]
          if (rest !== undefined) resolve(rest)
        })
        void up.ended.then(({ err }) => reject(new Error(`up exited before it was ready: ${err}`)))
      })
      await expect
        .poll(async () => await (await fetch(`${address}/status`)).text(), { timeout: 60_000 })
        .toContain('"eth"')
      up.child.kill('SIGTERM')
      expect((await up.ended).code).toBe(0)
    }
  })
})
