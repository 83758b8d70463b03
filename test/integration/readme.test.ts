/** Runs every example of the README as a reader would: pasted into a shell while `npm start` runs. */
import { type ChildProcess, spawn } from 'node:child_process'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import { repositoryRoot } from '../../schemas/avro.js'
import { isLongRun } from '../rig/counts.js'
import { storeEnvironmentOf } from '../rig/engine.js'
import { removeScratchFolders, scratchFolder } from '../rig/http/command.js'
import { steadyPort } from '../rig/servers/steady-port.js'
import { itWhenLong } from '../rig/suite/long-only.js'

const root = repositoryRoot()
/** A port without a listener. */
const closedPort = 9
/** Command lines of all code blocks, by section. */
const commands = new Map(
  readFileSync(join(root, 'README.md'), 'utf8')
    .split(/^## /m)
    .map((section) => [section.slice(0, section.indexOf('\n')), linesOf(section)]),
)

function linesOf(section: string): string[] {
  const blocks = [...section.matchAll(/^```sh\n(.*?)^```/gms)].map(([, block]) => block ?? '')
  return blocks.flatMap((block) => block.split('\n')).filter((line) => line.trim() !== '')
}

const commandsOf = (title: string): string[] => commands.get(title) ?? []

type Started = { child: ChildProcess; output: () => string; errors: () => string }
type Environment = Record<string, string>

const running: ChildProcess[] = []
afterAll(async () => {
  for (const child of running) if (isRunning(child)) process.kill(-(child.pid ?? 0), 'SIGKILL')
  removeScratchFolders()
})

const isRunning = ({ pid, exitCode, signalCode }: ChildProcess): boolean =>
  pid !== undefined && exitCode === null && signalCode === null

async function newEnvironment(): Promise<Environment> {
  const folder = scratchFolder()
  const dataDir = join(folder, 'data')
  // A short history gives the same output, sooner.
  const config = join(folder, 'dextape.json')
  writeFileSync(config, JSON.stringify({ simulator: { history_h: 0.1 } }))
  return {
    PATH: process.env.PATH ?? '',
    HOME: process.env.HOME ?? '/tmp',
    DEXTAPE_DATA_DIR: dataDir,
    DEXTAPE_CONFIG: config,
    DEXTAPE_HTTP_PORT: String(await steadyPort()),
    DEXTAPE_WS_PORT: String(await steadyPort()),
    ...storeEnvironmentOf(dataDir),
  }
}

/** Starts a new process group, so that processes started by npm end with it. */
function start(command: string, env: Environment): Started {
  const child = spawn('bash', ['-c', command], { cwd: root, env, detached: true, stdio: ['ignore', 'pipe', 'pipe'] })
  running.push(child)
  let [output, errors] = ['', '']
  child.stdout.setEncoding('utf8').on('data', (more: string) => {
    output += more
  })
  child.stderr.setEncoding('utf8').on('data', (more: string) => {
    errors += more
  })
  return { child, output: () => output, errors: () => errors }
}

async function until(started: Started, pattern: RegExp): Promise<string> {
  for (const deadline = Date.now() + 90_000; ; ) {
    const text = `${started.output()}${started.errors()}`
    const [, found] = pattern.exec(text) ?? []
    if (found !== undefined) return found
    if (!isRunning(started.child) || Date.now() > deadline) throw new Error(`${pattern} never came:\n${text}`)
    await new Promise((resolve) => setTimeout(resolve, 50))
  }
}

async function stop({ child }: Started): Promise<void> {
  if (!isRunning(child)) return
  const gone = new Promise((resolve) => child.once('close', resolve))
  process.kill(-(child.pid ?? 0), 'SIGTERM')
  await gone
}

/** The part of the README that matches an output. */
const matchInReadme = (pattern: RegExp): string =>
  pattern.exec(readFileSync(join(root, 'README.md'), 'utf8'))?.[0] ?? ''

/** npx takes a second to find the command. What `npm start` prints is run with it, the examples as what it finds. */
const withoutNpx = (line: string): string => line.replaceAll('npx dextape', 'node services/cli/dextape.js')

/** Runs the lines in one shell and returns the output of each. */
async function paste(lines: readonly string[], env: Environment): Promise<string[]> {
  const mark = '<<end of line>>'
  const script = lines
    .map((line) => line.replaceAll('127.0.0.1:8080', `127.0.0.1:${env.DEXTAPE_HTTP_PORT}`))
    .map((line) => `${line}\necho '${mark}'`)
  const shell = start(['set -euo pipefail', ...script].join('\n'), env)
  const code = await new Promise((resolve) => shell.child.once('close', resolve))
  const outputs = shell.output().split(mark)
  expect({ code, ran: outputs.length - 1 }, shell.errors()).toEqual({ code: 0, ran: lines.length })
  return outputs.slice(0, -1).map((output) => output.trim())
}

describe('the README', () => {
  test('has the sections this test knows how to run', () => {
    const counts = [...commands].map(([title, lines]) => [title, lines.length]).filter(([, count]) => count !== 0)
    expect(Object.fromEntries(counts)).toEqual({
      'Two commands': 2,
      'Four things to try': 6,
      'Into a notebook, a file, a chart': 6,
      'Play a recording': 7,
      'A chain of your choice': 4,
    })
  })

  describe('npm start', () => {
    let env: Environment
    let market: Started
    beforeAll(async () => {
      env = await newEnvironment()
      market = start((commandsOf('Two commands')[0] ?? '').replace(/^npm ci && /, ''), env)
      await until(market, /\n {2}(npx dextape listen .*)\n/)
    }, 120_000)
    afterAll(() => stop(market))

    test('prints two commands that work when pasted', async () => {
      const [, curl = ''] = /\n {2}(curl -H .*)\n/.exec(market.output()) ?? []
      const [, listen = ''] = /\n {2}(npx dextape listen .*)\n/.exec(market.output()) ?? []
      const [pair = '', pushes = ''] = await paste([`${curl} -s`, `${listen} --count 2`], env)
      expect(JSON.parse(pair)).toMatchObject({ status: 1, msg: 'SUCCESS', data: { tag: '' } })
      const frames = pushes.split('\n').map((line) => JSON.parse(line) as { result: { topic?: string } })
      const [subscribed, ...topics] = frames.map(({ result }) => result.topic)
      expect([subscribed, topics.length]).toEqual([undefined, 2])
      // The simulated chain has reorgs now and then.
      for (const topic of topics) expect(['tx', 'retract']).toContain(topic)
    })

    test('runs the examples of the README', async () => {
      const lines = commandsOf('Four things to try')
      const outputs = await paste(lines.map(withoutNpx), env)
      for (const [index, line] of lines.entries()) {
        const output = outputs[index] ?? ''
        if (line.startsWith('curl')) expect(JSON.stringify(JSON.parse(output)).length, line).toBeGreaterThan(20)
        else if (line.includes('listen'))
          expect(
            output.split('\n').map((text) => JSON.parse(text)),
            line,
          ).toHaveLength(2)
        else if (line.includes('dextape sql')) expect(output, line).toMatch(/^┌─chain.*│ eth /s)
        else expect(output, line).toBe('')
      }
    })

    itWhenLong('gives an analyst a frame, a file and a chart', async () => {
      const folder = scratchFolder()
      const [install = '', ...steps] = commandsOf('Into a notebook, a file, a chart').map((line) =>
        withoutNpx(line)
          .replaceAll('.venv', join(folder, 'venv'))
          .replaceAll('trades.parquet', join(folder, 'trades.parquet')),
      )
      const first = commandsOf('Four things to try').filter((line) => /^(export KEY|PAIR)=/.test(line))
      const lines = [install, ...first.map(withoutNpx), ...steps]
      const [history = '', , counts = '', , frame = ''] = (await paste(lines, env)).reverse()
      expect(frame).toMatch(/open .* time\n0 /)
      expect(counts).toMatch(/│ eth +│ +\d+ │/)
      expect(JSON.parse(history)).toMatchObject({ s: 'ok', t: expect.arrayContaining([expect.any(Number)]) })
    })
  })

  itWhenLong('creates, plays and verifies a recording', async () => {
    const env: Environment = await newEnvironment()
    const day = join(scratchFolder(), 'day.jsonl.gz')
    const [simulate = '', up = '', ...rest] = commandsOf('Play a recording').map((line) =>
      withoutNpx(line).replace('day.jsonl.gz', day),
    )
    const [made = ''] = await paste([simulate], env)
    const [, blocks = 0, retracts = 0] = /(\d+) blocks, (\d+) retracts/.exec(made)?.map(Number) ?? []
    expect(made, 'the output matches the README').toContain(matchInReadme(/\d+ blocks, \d+ retracts, \d+ events/))
    const played = start(up, env)
    await until(played, /(the source has ended)/)
    await until(played, /(Dextape is up)/)
    await vi.waitFor(async () => {
      const status = await fetch(`http://127.0.0.1:${env.DEXTAPE_HTTP_PORT}/status`)
      const { chains } = (await status.json()) as { chains: { seq: number }[] }
      expect(chains.reduce((sum, { seq }) => sum + seq, 0)).toBe(blocks + retracts)
    }, 60_000)
    const [, klines = '', pair = '', topics = '', verified = ''] = await paste(rest, env)
    expect(JSON.parse(klines).data.points).toHaveLength(24)
    expect(JSON.parse(pair).data).toMatchObject({ chain: 'eth', token0_symbol: 'USDC', token1_symbol: 'WETH' })
    expect(topics).toContain('dex.blocks.eth')
    expect(verified).toContain('eth')
    await stop(played)
  })

  test('accepts each command for a chain and reports that the node does not answer', async () => {
    const [pool = '', exchanges = '', solana = '', doctor = ''] = commandsOf('A chain of your choice').map((line) =>
      withoutNpx(line).replace('https://your-node.example', `http://127.0.0.1:${closedPort}`),
    )
    const starts = [
      [pool, 'base'],
      [exchanges, 'eth'],
      [solana, 'solana'],
    ]
    for (const [line, chain] of isLongRun() ? starts : starts.slice(0, 1)) {
      const up = start(line ?? '', await newEnvironment())
      expect(await until(up, /("part":"source".*|part=source.*)/), line).toContain(chain)
      await stop(up)
    }
    const asked = start(doctor, await newEnvironment())
    await new Promise((resolve) => asked.child.once('close', resolve))
    expect(asked.output()).toMatch(new RegExp(`^fail .*base.*127.0.0.1:${closedPort}`, 'm'))
  })
})
