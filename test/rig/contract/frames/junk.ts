/** Malformed frames, reproducible from a seed. */
import type { Random } from '../../market/random.js'
import type { RpcWorld } from './model.js'

export type Frame = { kind: string; data: string | Buffer }

export type JunkWorld = RpcWorld & {
  pairs: readonly string[]
  tokens: readonly string[]
  /** Must never appear in a log. */
  secret: string
  maxBytes: number
}

const WORDS = [
  '',
  ' ',
  '\u0000',
  '\ud800',
  '🦄',
  'ｆｕｌｌ',
  '\u202e',
  'null',
  'NaN',
  '__proto__',
  'constructor',
  '../../etc',
  "' OR 1=1",
  '*',
]
const NUMBERS = [0, -0, -1, 1.5, 1e21, -1e308, 5e-324, 2 ** 53 + 2, 4_294_967_296]

export function createJunk(random: Random, world: JunkWorld): () => Frame {
  const kinds: [weight: number, kind: string, make: () => string | Buffer][] = [
    [14, 'broken JSON', () => broken(JSON.stringify(subscribe()))],
    [12, 'wrong types', () => JSON.stringify(wrongTypes())],
    [8, 'wrong ids', () => JSON.stringify({ ...subscribe(), id: anything(2) })],
    [22, 'near-valid', () => JSON.stringify(mutated(subscribe()))],
    [
      16,
      'wrong params',
      () => JSON.stringify({ ...request('subscribe', [topic(), ...many(0, 4, () => anything(2))]) }),
    ],
    [6, 'batches', () => batch()],
    [5, 'binary', () => binary()],
    [4, 'deep nesting', () => deep()],
    [
      3,
      'huge numbers',
      () =>
        JSON.stringify(subscribe()).replace(
          /"id":\d+/,
          `"id":${random.pick(['1e400', '-1e400', '9'.repeat(400), `0.${'1'.repeat(300)}`])}`,
        ),
    ],
    [3, 'duplicate keys', () => JSON.stringify(subscribe()).replace('{', `{"id":{},"method":7,"__proto__":{"id":1},`)],
    [3, 'unicode', () => JSON.stringify(request(word(), [word(), word(), word()]))],
    [0.4, 'very long', () => long()],
    [2, 'good', () => JSON.stringify(subscribe())],
    [1.5, 'end of all', () => JSON.stringify(request('unsubscribe', []))],
  ]
  let lastId = 0
  const request = (method: unknown, params: unknown) => ({ jsonrpc: '2.0', method, params, id: ++lastId })
  const many = <T>(from: number, to: number, make: () => T): T[] => Array.from({ length: random.int(from, to) }, make)
  const word = (): string => random.pick([...WORDS, world.secret, topic(), address(), chain()])
  const topic = (): string => random.pick(world.topics).topic
  const chain = (): string => random.pick(world.chains)
  const address = (): string => random.pick([...world.pairs, ...world.tokens])

  function subscribe() {
    const { topic: name, form, names } = random.pick(world.topics)
    const values = (): string[] =>
      names.map((one) => (one === 'chain' ? chain() : one === 'interval' ? random.pick(world.intervals) : address()))
    const ids = (): string[] => many(1, 4, () => `${address()}-${chain()}`)
    const args = form === 'values' ? values() : form === 'arrays' ? many(1, 3, values) : [ids()]
    return request(random.chance(0.8) ? 'subscribe' : 'unsubscribe', [name, ...args])
  }

  function anything(depth: number): unknown {
    const flat: [number, () => unknown][] = [
      [3, word],
      [2, () => random.pick(NUMBERS)],
      [1, () => null],
      [1, () => random.chance(0.5)],
    ]
    const deepOnes: [number, () => unknown][] = [
      [1, () => many(0, 4, () => anything(depth - 1))],
      [1, () => Object.fromEntries(many(0, 3, () => [word(), anything(depth - 1)]))],
    ]
    return random.weighted(depth > 0 ? [...flat, ...deepOnes] : flat)()
  }

  function wrongTypes(): unknown {
    const whole = { jsonrpc: '2.0', method: 'subscribe', params: ['tx', address(), chain()], id: ++lastId }
    const changed = many(1, 3, () => random.pick(Object.keys(whole))).map((name) => [name, anything(2)])
    return random.chance(0.2) ? anything(3) : { ...whole, ...Object.fromEntries(changed) }
  }

  /** Replaces, removes or duplicates one value anywhere inside. */
  function mutated(value: unknown): unknown {
    if (Array.isArray(value) && value.length > 0) {
      const at = random.int(0, value.length - 1)
      return random.weighted<() => unknown>([
        [3, () => value.map((one, index) => (index === at ? mutated(one) : one))],
        [1, () => value.filter((_, index) => index !== at)],
        [1, () => [...value, value[at]]],
        [1, () => [...value, anything(1)]],
      ])()
    }
    if (typeof value === 'object' && value !== null) {
      const [name, inner] = random.weighted(
        [
          [6, 'params'],
          [1, 'id'],
          [1, 'method'],
          [1, 'jsonrpc'],
        ].map(
          ([weight, key]) => [Number(weight), [String(key), (value as Record<string, unknown>)[String(key)]]] as const,
        ),
      )
      return { ...value, [name]: mutated(inner) }
    }
    if (typeof value === 'string' && random.chance(0.5))
      return random.chance(0.5) ? value.slice(1) : `${value}${word()}`
    return anything(1)
  }

  function broken(text: string): string {
    const at = random.int(0, text.length)
    return random.pick([
      text.slice(0, at),
      text.slice(0, at) + random.pick(['"', '{', '}', '\\', ',', '\u0000', '\n', '//']) + text.slice(at),
      text.slice(0, at) + text.slice(at + 1),
      text.replaceAll('"', "'"),
      `${text}${text}`,
      `\ufeff${text}`,
      '',
    ])
  }

  function batch(): string {
    const one = (): unknown =>
      random.weighted([
        [3, subscribe],
        [3, wrongTypes],
        [1, () => request('ping', [])],
        [1, () => ({ ...subscribe(), id: undefined })],
      ] as [number, () => unknown][])()
    return JSON.stringify(random.chance(0.1) ? many(world.maxBatch - 1, world.maxBatch + 2, one) : many(0, 12, one))
  }

  function binary(): Buffer {
    if (random.chance(0.5)) return Buffer.from(JSON.stringify(subscribe()))
    return Buffer.from(many(0, 300, () => random.int(0, 255)))
  }

  function deep(): string {
    const depth = random.int(10, 9000)
    const [open, close] = random.pick([
      ['[', ']'],
      ['{"a":', '}'],
    ] as const)
    const nested = `${open.repeat(depth)}${open === '[' ? '' : '1'}${close.repeat(depth)}`
    return random.chance(0.5)
      ? nested
      : `{"jsonrpc":"2.0","method":"subscribe","params":["${topic()}",${nested}],"id":${++lastId}}`
  }

  function long(): string {
    const text = random.pick(['a', '🦄', '"', '\u0001']).repeat(random.int(1000, world.maxBytes / 7))
    return JSON.stringify(request('subscribe', random.chance(0.5) ? [topic(), text, chain()] : ['price', [text]]))
  }

  return () => {
    const [kind, make] = random.weighted(kinds.map(([weight, name, one]) => [weight, [name, one] as const] as const))
    return { kind, data: make() }
  }
}
