import { Writable } from 'node:stream'
import { describe, expect, it } from 'vitest'
import { chooseLogFormat, createLogger } from '../../../services/core/runtime/logger.js'
import { createPace, createProgress } from '../../../services/core/runtime/progress.js'
import { createPaint, type OutStream, printable, wantsColour } from '../../../services/core/runtime/terminal.js'

function streamOf(given: Partial<OutStream>): { stream: OutStream; written: () => string } {
  let text = ''
  const stream = new Writable({
    write(chunk, _, done) {
      text += chunk
      done()
    },
  })
  return { stream: Object.assign(stream, given), written: () => text }
}

/** What a terminal of one line shows: a carriage return starts it again. */
const lastShown = (text: string) => text.split('\r\x1b[2K').at(-1)

describe('progress', () => {
  it('is one line with a bar, the rate and the time left on a terminal, below whatever is logged', () => {
    let now = 0
    const { stream, written } = streamOf({ isTTY: true, columns: 120 })
    const logger = createLogger('text', {}, (line) => stream.write(`${line}\n`))
    const progress = createProgress({
      ...{ message: 'replaying the log', unit: 'updates', fields: { chain: 'eth' }, stream, logger, nowMs: () => now },
    })
    progress.report(0, 4000)
    now = 10_000
    progress.report(1000, 4000)
    const bar = 'replaying the log eth  ██████░░░░░░░░░░░░░░░░░░  25 %  1,000 of 4,000  100 updates/s  30 s left'
    expect(lastShown(written())).toBe(bar)
    logger.warn('slow')
    expect(written().split('\n').at(-1)).toBe(bar)
    expect(lastShown(written())).toMatch(/ ! slow\n/)
    progress.end()
    expect(lastShown(written())).toBe('')
    logger.info('done')
    expect(written()).toMatch(/ done\n$/)
  })

  it('never wraps a narrow terminal', () => {
    const { stream, written } = streamOf({ isTTY: true, columns: 30 })
    const paint = createPaint(true)
    const logger = createLogger('text', {}, () => {})
    createProgress({ message: 'importing', unit: 'bytes', stream, logger, paint }).report(50, 100)
    // biome-ignore lint/suspicious/noControlCharactersInRegex: colours.
    expect(lastShown(written())?.replace(/\x1b\[\d+m/g, '')).toHaveLength(29)
  })

  it('is a log line every few seconds elsewhere', () => {
    let now = 0
    const lines: string[] = []
    const { stream, written } = streamOf({})
    const logger = createLogger('json', {}, (line) => lines.push(line))
    const options = { message: 'exporting', unit: 'records', fields: { topic: 'dex.blocks.eth' }, stream, logger }
    const progress = createProgress({ ...options, nowMs: () => now, everyMs: 5000 })
    for (now = 0; now <= 12_000; now += 500) progress.report(now / 10, 4800)
    progress.end()
    expect(written()).toBe('')
    expect(lines.map((line) => ({ ...JSON.parse(line), time: '' }))).toEqual([
      {
        ...{ time: '', level: 'info', message: 'exporting', topic: 'dex.blocks.eth', records_done: 500 },
        ...{ records_total: 4800, percent: 10, left_s: 43, records_per_s: 100 },
      },
      {
        ...{ time: '', level: 'info', message: 'exporting', topic: 'dex.blocks.eth', records_done: 1000 },
        ...{ records_total: 4800, percent: 20, left_s: 38, records_per_s: 100 },
      },
    ])
  })

  it('has the rate of the last minute', () => {
    let now = 0
    const pace = createPace(() => now)
    expect(pace.at(0, 100)).toEqual({ percent: 0, perS: 0, leftS: null })
    now = 10_000
    expect(pace.at(20, 100)).toEqual({ percent: 20, perS: 2, leftS: 40 })
    now = 80_000
    expect(pace.at(90, 100)).toEqual({ percent: 90, perS: 1, leftS: 10 })
  })

  it('starts its rate anew if the work begins again', () => {
    let now = 0
    const pace = createPace(() => now)
    pace.at(90, 100)
    now = 1000
    pace.at(1, 100)
    now = 2000
    expect(pace.at(3, 100)).toMatchObject({ percent: 3, perS: 2 })
  })
})

describe('colours', () => {
  it('are for terminals, unless NO_COLOR or FORCE_COLOR says otherwise', () => {
    const [terminal, pipe] = [{ isTTY: true }, {}]
    expect([wantsColour({}, terminal), wantsColour({}, pipe)]).toEqual([true, false])
    expect([wantsColour({ NO_COLOR: '1' }, terminal), wantsColour({ NO_COLOR: '' }, terminal)]).toEqual([false, true])
    expect([wantsColour({ FORCE_COLOR: '1' }, pipe), wantsColour({ FORCE_COLOR: '0' }, terminal)]).toEqual([
      true,
      false,
    ])
    expect(wantsColour({ TERM: 'dumb' }, terminal)).toBe(false)
  })

  it('are in logs on a terminal; elsewhere logs are JSON lines', () => {
    expect(chooseLogFormat('auto', {}, { isTTY: true })).toBe('colour')
    expect(chooseLogFormat('auto', { NO_COLOR: '1' }, { isTTY: true })).toBe('text')
    expect(chooseLogFormat('auto', {}, {})).toBe('json')
    expect(chooseLogFormat('json', {}, { isTTY: true })).toBe('json')
    const lines: string[] = []
    createLogger('colour', {}, (line) => lines.push(line)).error('chain stopped', { chain: 'eth' })
    expect(lines[0]).toContain('\x1b[31mchain stopped\x1b[39m  \x1b[2mchain=\x1b[22meth')
  })
})

it('shows names from a chain without the codes in them that control a terminal', () => {
  const names = ['\x1b[2J\x1b]0;owned\x07PEPE', 'US\u200bDC', '\u202eCDSU', 'tab\tline\n', 'Ünï 🦄 币']
  expect(names.map(printable)).toEqual(['�[2J�]0;owned�PEPE', 'US�DC', '�CDSU', 'tab�line�', 'Ünï 🦄 币'])
})
