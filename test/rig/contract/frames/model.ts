/** Expected replies by JSON-RPC 2.0 and the interface, written independently of the server. */
import { RPC_ERRORS, type Topic } from '../../../contract/interface/pushes.js'

export type RpcWorld = {
  topics: readonly Topic[]
  intervals: readonly string[]
  chains: readonly string[]
  /** A batch with more requests is rejected as a whole. */
  maxBatch: number
}

/** `codes`: allowed error codes; `ok`: a result is allowed. */
export type Expected = { id: unknown; codes: readonly number[]; ok: boolean }

/** No reply, one reply, or one array of replies. */
export type ExpectedFrame = undefined | Expected | Expected[]

const MAX_ID_LENGTH = 256

/** A binary frame is never a valid request. */
export function expectedReply(frame: string | Buffer, world: RpcWorld): ExpectedFrame {
  if (typeof frame !== 'string') return refused(null, RPC_ERRORS.invalidRequest)
  let message: unknown
  try {
    // Parse the text as the server receives it: encoding replaces lone surrogates.
    message = JSON.parse(Buffer.from(frame).toString())
  } catch {
    return refused(null, RPC_ERRORS.parse)
  }
  if (!Array.isArray(message)) return ofRequest(message, world)
  if (message.length === 0) return refused(null, RPC_ERRORS.invalidRequest)
  if (message.length > world.maxBatch) return refused(null, RPC_ERRORS.limitExceeded)
  const replies = message.flatMap((one) => ofRequest(one, world) ?? [])
  return replies.length === 0 ? undefined : replies
}

const refused = (id: unknown, ...codes: number[]): Expected => ({ id, codes, ok: false })

function ofRequest(message: unknown, world: RpcWorld): Expected | undefined {
  if (typeof message !== 'object' || message === null || Array.isArray(message))
    return refused(null, RPC_ERRORS.invalidRequest)
  const { jsonrpc, method, params, id } = message as Record<string, unknown>
  if (!isId(id)) return refused(null, RPC_ERRORS.invalidRequest)
  const replyId = Object.is(id, -0) ? 0 : (id ?? null)
  if (jsonrpc !== '2.0' || typeof method !== 'string') return refused(replyId, RPC_ERRORS.invalidRequest)
  if (id === undefined) return undefined
  if (method === 'ping') return { id: replyId, codes: [], ok: true }
  if (method !== 'subscribe' && method !== 'unsubscribe') return refused(replyId, RPC_ERRORS.unknownMethod)
  const verdict = judge(method, params, world)
  if (verdict === 'bad')
    return refused(replyId, RPC_ERRORS.badParams, RPC_ERRORS.invalidRequest, RPC_ERRORS.limitExceeded)
  return {
    id: replyId,
    codes: verdict === 'good' ? [RPC_ERRORS.limitExceeded] : [RPC_ERRORS.badParams, RPC_ERRORS.limitExceeded],
    ok: true,
  }
}

/** A number that survives a round trip, or a string of limited length. */
function isId(id: unknown): boolean {
  if (typeof id === 'string') return id.length <= MAX_ID_LENGTH
  return id === undefined || id === null || (typeof id === 'number' && Math.abs(id) <= 2 ** 53)
}

/** `open`: the documents do not say whether such an address or option is valid. */
type Verdict = 'good' | 'bad' | 'open'

function judge(method: string, params: unknown, world: RpcWorld): Verdict {
  if (!Array.isArray(params)) return 'bad'
  if (params.length === 0) return method === 'unsubscribe' ? 'good' : 'bad'
  const [name, ...args] = params as unknown[]
  const topic = world.topics.find((one) => one.topic === name)
  if (topic === undefined) return 'bad'
  const last = args.at(-1)
  const hasOptions = typeof last === 'object' && last !== null && !Array.isArray(last)
  const verdict = judgeArguments(topic, hasOptions ? args.slice(0, -1) : args, world)
  return hasOptions && verdict === 'good' ? 'open' : verdict
}

function judgeArguments({ form, names }: Topic, args: readonly unknown[], world: RpcWorld): Verdict {
  if (form === 'values') return judgeValues(names, args, world)
  if (form === 'arrays') {
    if (args.length === 0) return 'bad'
    const chainOf = (item: unknown) => (Array.isArray(item) ? item[names.indexOf('chain')] : undefined)
    const judged = (item: unknown) => (Array.isArray(item) ? judgeValues(names, item, world) : 'bad')
    return worstOfList(args, judged, chainOf, world)
  }
  const [ids] = args
  if (args.length !== 1 || !Array.isArray(ids) || ids.length === 0) return 'bad'
  const chainOf = (id: unknown) => (typeof id === 'string' ? id.slice(id.lastIndexOf('-') + 1) : undefined)
  return worstOfList(ids, (id) => judgeId(id, world), chainOf, world)
}

/** An item of a chain that is not indexed is left out, if it has the right form and another item is of one that is. */
function worstOfList(
  items: readonly unknown[],
  judged: (item: unknown) => Verdict,
  chainOf: (item: unknown) => unknown,
  { chains }: RpcWorld,
): Verdict {
  const isKnown = (chain: unknown) => chains.some((known) => known === chain)
  if (!items.some((item) => isKnown(chainOf(item)))) return worst(items.map(judged))
  return worst(
    items.map((item) => {
      const chain = chainOf(item)
      return typeof chain === 'string' && !isKnown(chain) ? 'open' : judged(item)
    }),
  )
}

function judgeValues(names: readonly string[], args: readonly unknown[], world: RpcWorld): Verdict {
  if (args.length !== names.length || args.some((value) => typeof value !== 'string')) return 'bad'
  return worst(
    names.map((name, at) => {
      const value = String(args[at])
      if (name === 'chain') return world.chains.includes(value) ? 'good' : 'bad'
      if (name === 'interval') return world.intervals.includes(value) ? 'good' : 'bad'
      return judgeAddress(value)
    }),
  )
}

function judgeId(id: unknown, world: RpcWorld): Verdict {
  if (typeof id !== 'string') return 'bad'
  const dash = id.lastIndexOf('-')
  if (dash <= 0 || !world.chains.includes(id.slice(dash + 1))) return 'bad'
  return judgeAddress(id.slice(0, dash))
}

function judgeAddress(address: string): Verdict {
  if (/^0x[0-9a-f]{40}$/i.test(address)) return 'good'
  return address === '' || /[\s/"\\]/.test(address) ? 'bad' : 'open'
}

const worst = (verdicts: readonly Verdict[]): Verdict =>
  verdicts.includes('bad') ? 'bad' : verdicts.includes('open') ? 'open' : 'good'

/** Why a reply does not match; undefined if it does. */
export function replyProblem(reply: unknown, expected: Expected | Expected[]): string | undefined {
  if (Array.isArray(expected)) {
    if (!Array.isArray(reply)) return `an array of ${expected.length} replies was due`
    if (reply.length !== expected.length) return `${reply.length} replies came for ${expected.length}`
    return expected.map((one, at) => replyProblem(reply[at], one)).find((problem) => problem !== undefined)
  }
  const { jsonrpc, id, result, error, ...rest } = (reply ?? {}) as Record<string, unknown>
  if (jsonrpc !== '2.0' || Object.keys(rest).length > 0) return 'is not a JSON-RPC reply'
  if (id !== expected.id) return `id ${JSON.stringify(id)} instead of ${JSON.stringify(expected.id)}`
  if (error === undefined) return expected.ok && result !== undefined ? undefined : 'is not an error'
  const { code, message } = error as Record<string, unknown>
  if (result !== undefined || typeof message !== 'string' || message === '') return 'is not an error object'
  return expected.codes.includes(Number(code)) ? undefined : `code ${code} instead of ${expected.codes.join(' or ')}`
}
