/** Every operation: cost, envelope, keys, and the limits, defaults and errors of each input. */
import { describe, expect, test } from 'vitest'
import type { ContractMarket } from '../../rig/contract/market.js'
import { createRequests } from '../../rig/contract/requests.js'
import type { Asked, Reply, Served } from '../../rig/contract/served.js'
import { type Input, OPERATIONS } from '../interface/operations.js'

export function testOperations(market: ContractMarket, served: () => Served): void {
  const requests = createRequests(market)
  const [chain = ''] = market.chains
  const ask = (asked: Asked): Promise<Reply> => served().ask(asked)

  /** RFC 9457 with `code`, and `msg` and `message` repeating `detail`; errors cost nothing. */
  function expectProblem(reply: Reply, status: number, code?: string): void {
    expect([reply.status, reply.text.slice(0, 300)]).toEqual([status, expect.any(String)])
    expect(reply.headers.get('content-type')).toMatch(/^application\/problem\+json/)
    const body = reply.body as Record<string, unknown>
    const { detail } = body
    expect(body).toMatchObject({
      status,
      type: expect.any(String),
      title: expect.any(String),
      msg: detail,
      message: detail,
    })
    expect(typeof body.detail === 'string' && body.detail !== '').toBe(true)
    expect(body.code).toEqual(code ?? expect.stringMatching(/^[a-z0-9_]+$/))
    expect(reply.headers.get('x-cu-cost')).toBeNull()
  }

  describe.each(OPERATIONS)('$method $path', (operation) => {
    const { isWrapped, items } = operation
    const good = (): Asked => requests.good(operation)
    const changed = (input: Input, value: unknown): Promise<Reply> => ask(requests.withInput(operation, input, value))

    test(`answers 200, costs ${operation.costCu} CU and gives the time of its data`, async () => {
      const reply = await ask(good())
      expect([reply.status, reply.text.slice(0, 300)]).toEqual([200, expect.any(String)])
      expect(reply.headers.get('x-cu-cost')).toBe(String(operation.costCu))
      expect(reply.headers.get('x-as-of')).toMatch(/^\d+(; \w+=\d+)*$/)
      expect(reply.headers.get('content-type')).toMatch(/^application\/json/)
    })

    test(`returns its body ${isWrapped ? 'in the envelope' : 'bare'}; X-Envelope: always wraps it`, async () => {
      const [plain, wrapped] = [await ask(good()), await ask({ ...good(), headers: { 'x-envelope': 'always' } })]
      const around = { status: 1, msg: 'SUCCESS', data_type: 1, data: expect.anything() }
      expect(wrapped.body).toEqual(around)
      if (isWrapped) expect(plain.body).toEqual(wrapped.body)
      else expect({ ...around, data: plain.body }).toEqual(wrapped.body)
      if (operation.body === 'array') expect(Array.isArray(plain.body)).toBe(true)
      else expect(Array.isArray(plain.body) || typeof plain.body !== 'object').toBe(false)
    })

    test('is 401 without a key or with an unknown one, 403 with an expired one', async () => {
      expectProblem(await ask({ ...good(), headers: { 'x-api-key': '' } }), 401, 'key_missing')
      expectProblem(await ask({ ...good(), headers: { 'x-api-key': 'dx_nobody' } }), 401, 'key_invalid')
      expectProblem(await ask({ ...good(), headers: { 'x-api-key': served().expiredKey } }), 403, 'key_expired')
    })

    if (operation.method === 'POST') {
      test('is 400 for a body that is missing, not an object or not JSON', async () => {
        const { body: _, ...bare } = good()
        expectProblem(await ask(bare), 400)
        for (const body of ['[]', 'null', '"text"', '7', '{"token_ids":', '']) {
          expectProblem(await ask({ ...bare, body, headers: { 'content-type': 'application/json' } }), 400)
        }
      })
    }

    describe.each(operation.inputs)('$place $name', (input) => {
      if (input.isRequired && input.place !== 'path') {
        test('is 400 when missing', async () => {
          expectProblem(await changed(input, undefined), 400)
        })
      }

      if (input.default !== undefined) {
        test(`defaults to ${input.default}`, async () => {
          const standard = input.type === 'integer' && input.place === 'body' ? Number(input.default) : input.default
          const [without, explicit] = [await ask(good()), await changed(input, standard)]
          expect(explicit.status).toBe(200)
          expect(without.body).toEqual(explicit.body)
        })
      }

      if (input.type === 'integer' && input.max !== undefined) {
        const { max } = input
        test(`accepts ${max}; ${max + 1}, 0 and -1 are 400`, async () => {
          expect((await changed(input, max)).status).toBe(200)
          for (const wrong of [max + 1, 0, -1]) expectProblem(await changed(input, wrong), 400)
        })
      }

      if (input.type === 'integer') {
        test('is 400 when not a whole number', async () => {
          const wrong =
            input.place === 'query' ? ['', 'x', '1.5', '1e1', '0x1', ' 1', 'NaN'] : ['1', 'x', null, [], {}, true]
          for (const value of wrong) expectProblem(await changed(input, value), 400)
          expectProblem(await changed(input, -1), 400)
        })
      }

      if (input.values !== undefined) {
        test.each(input.values)('accepts %s', async (value) => {
          expect((await changed(input, value)).status).toBe(200)
        })
        test('is 400 for any other value', async () => {
          const [first = ''] = input.values ?? []
          for (const value of [
            '',
            'name',
            `${first} `,
            `${first}0`,
            ...(/[a-z]/.test(first) ? [first.toUpperCase()] : []),
          ]) {
            expectProblem(await changed(input, value), 400)
          }
        })
      }

      if (input.type === 'array' && input.max !== undefined) idListRules(input, input.max)
      else if (input.form !== undefined) idRules(input, input.form)
      if (input.name === 'chain') {
        test('accepts every indexed chain; any other is 400', async () => {
          for (const one of market.chains) expect((await changed(input, one)).status).toBe(200)
          expectProblem(await changed(input, 'nochain'), 400, 'chain_unknown')
        })
      }
      for (const example of input.examples ?? []) {
        test(`accepts ${example}`, async () => {
          expect((await changed(input, example)).status).toBe(200)
        })
      }
    })

    function idListRules(input: Input, max: number): void {
      const unknown = (at: number): string => `0x${String(at).padStart(40, '0')}-${chain}`
      const ids = (count: number): string[] => Array.from({ length: count }, (_, at) => unknown(at))

      test(`accepts ${max} different ids; ${max + 1} are 400`, async () => {
        expect((await changed(input, ids(max))).status).toBe(200)
        expectProblem(await changed(input, ids(max + 1)), 400)
      })

      test('counts duplicate ids once, ignoring case', async () => {
        const [first = ''] = ids(1)
        expect(
          (await changed(input, [...ids(max), first, first.toUpperCase().replace('X', 'x').replace(/ETH$/, 'eth')]))
            .status,
        ).toBe(200)
      })

      test('answers the other ids next to one of a chain that is not indexed, and names it', async () => {
        const known = requests.goodValue(operation, input) as string[]
        const [alone, mixed] = [await changed(input, known), await changed(input, [...known, '0x1-nochain'])]
        expect([mixed.status, mixed.headers.get('x-reason')]).toEqual([200, 'chain_unknown'])
        expect(mixed.body).toEqual({ ...(alone.body as object), unknown_ids: ['0x1-nochain'] })
      })

      test.each([
        ['empty', []],
        ['a string', unknown(1)],
        ['an object', {}],
        ['null', null],
        ['of numbers', [1]],
        ['of lists', [[unknown(1)]]],
        ['of null', [null]],
        ['of an id without chain', ['0x1']],
        ['of an empty id', ['']],
        ['only of ids of other chains', ['0x1-nochain', '0x2-nochain']],
      ])('is 400 when it is %s', async (_, value) => {
        expectProblem(await changed(input, value), 400)
      })
    }

    function idRules(input: Input, form: string): void {
      const id = String(requests.goodValue(operation, input))

      test.each(['x', '-', `-${chain}`, '0x1-', `0x 1-${chain}`, `0x1/${chain}`, `../..-${chain}`, `0x1é-${chain}`])(
        'is 400 for %j',
        async (malformed) => {
          expectProblem(await changed(input, malformed), 400)
        },
      )

      test('is 400 for a chain that is not indexed', async () => {
        expectProblem(await changed(input, '0x1-nochain'), 400, 'chain_unknown')
      })

      test('accepts EVM addresses in any case', async () => {
        const [lower, upper] = [
          await changed(input, id),
          await changed(
            input,
            id.replace(/[a-f](?=.*-)/g, (c) => c.toUpperCase()),
          ),
        ]
        expect(upper.body).toEqual(lower.body)
      })

      test('answers an unknown id with 200, empty data and the reason', async () => {
        const reply = await changed(input, `0x${'12'.repeat(20)}-${chain}`)
        expect(reply.status).toBe(200)
        expect(reply.headers.get('x-reason')).toBe(form === 'pair-id' ? 'unknown_pair' : 'unknown_token')
        const { data, msg } = (isWrapped ? reply.body : { data: reply.body, msg: 'not found' }) as Record<
          string,
          unknown
        >
        if (items === undefined) expect([null, {}, []]).toContainEqual(data)
        else expect((data as Record<string, unknown>)[items]).toEqual([])
        expect(msg).toContain('not found')
      })
    }
  })
}
