import { describe, expect, it } from 'vitest'
import { DextapeError } from '../../../services/core/domain/errors.js'
import { createLogger } from '../../../services/core/runtime/logger.js'

function logged(format: 'text' | 'json', fields: Record<string, unknown>): string {
  const lines: string[] = []
  createLogger(format, {}, (line) => lines.push(line)).error('chain stopped', fields)
  return lines.join('\n')
}

function refused(): DextapeError {
  const socket = Object.assign(new Error('connect ECONNREFUSED https://user:hunter2@node.example/v2/s3cret?key=abc'), {
    code: 'ECONNREFUSED',
    config: { headers: { authorization: 'Bearer s3cret' } },
  })
  const fetching = new TypeError('fetch failed', { cause: socket })
  return new DextapeError({ code: 'log_away', what: 'The node does not answer', retry: true, cause: fetching })
}

describe('an error in a log line', () => {
  it('has code, message, stack and causes, as JSON', () => {
    const { error } = JSON.parse(logged('json', { error: refused() }))
    expect(error).toMatchObject({
      name: 'DextapeError',
      code: 'log_away',
      message: 'The node does not answer',
      stack: expect.stringMatching(/^DextapeError: The node does not answer\n {4}at refused .*logger\.test\.ts/),
      cause: {
        name: 'TypeError',
        message: 'fetch failed',
        stack: expect.stringContaining('logger.test.ts'),
        cause: { name: 'Error', code: 'ECONNREFUSED', message: 'connect ECONNREFUSED https://node.example' },
      },
    })
  })

  it('has the message in the line, and stacks and causes below it, as text', () => {
    const [line, ...below] = logged('text', { chain: 'eth', error: refused() }).split('\n')
    expect(line).toMatch(/chain stopped {2}chain=eth {2}error=The node does not answer {2}error_code=log_away$/)
    expect(below[0]).toMatch(/^ {4}at refused .*logger\.test\.ts/)
    expect(below.filter((text) => text.startsWith('  caused by '))).toEqual([
      '  caused by TypeError: fetch failed',
      '  caused by Error: connect ECONNREFUSED https://node.example (ECONNREFUSED)',
    ])
  })

  it.each(['text', 'json'] as const)(
    'has no secret from a URL, and no error field that may hold one (%s)',
    (format) => {
      expect(logged(format, { error: refused() })).not.toMatch(/hunter2|s3cret|key=abc/)
    },
  )

  it('stops at circular causes, and logs a non-error as it is', () => {
    const error: Error = new Error('outer')
    error.cause = new Error('inner', { cause: error })
    expect(logged('json', { error }).match(/"message":"outer"/g)?.length).toBe(5)
    expect(JSON.parse(logged('json', { error: new Error('x', { cause: 'told off' }) })).error.cause).toBe('told off')
    expect(JSON.parse(logged('json', { error: 'text', count: 3 }))).toMatchObject({ error: 'text', count: 3 })
  })

  it('logs the first error of an AggregateError', () => {
    const error = new AggregateError([new Error('connect ECONNREFUSED ::1:1')], '')
    expect(JSON.parse(logged('json', { error })).error.cause.message).toBe('connect ECONNREFUSED ::1:1')
  })
})

describe('a log line', () => {
  it('keeps its own fields, whatever fields it is given', () => {
    const line = JSON.parse(logged('json', { message: 'another', level: 'x', time: 1, chain: 'eth' }))
    expect(line).toEqual({
      ...{ time: expect.stringMatching(/^\d{4}-.*Z$/), level: 'error', message: 'chain stopped', chain: 'eth' },
      ...{ field_message: 'another', field_level: 'x', field_time: 1 },
    })
  })

  it('has no control characters in text, which would move the cursor of a terminal', () => {
    const evil = 'A\x1b[2J\u202eB\nC'
    const [line = '', ...below] = logged('text', { reason: evil, all: [evil], error: new Error(evil, { cause: evil }) })
      .replaceAll(/\n {4}at .*/g, '')
      .split('\n')
    expect(line).toContain('reason=A\ufffd[2J\ufffdB C')
    expect(line).toContain('error=A\ufffd[2J\ufffdB C')
    expect(below).toEqual(['  caused by A\ufffd[2J\ufffdB C'])
    expect(['\x1b', '\u202e'].filter((code) => line.includes(code))).toEqual([])
  })
})
