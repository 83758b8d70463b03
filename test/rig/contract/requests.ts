/** A valid request for each operation of the interface, and the same with one input changed. */
import type { Input, Operation } from '../../contract/interface/operations.js'
import type { ContractMarket } from './market.js'
import type { Asked } from './served.js'

export type Requests = {
  /** A valid value of an input in this market. */
  goodValue(operation: Operation, input: Input): unknown
  /** A request with only the required inputs. */
  good(operation: Operation): Asked
  /** The valid request with one input set, or omitted if undefined. */
  withInput(operation: Operation, input: Input, value: unknown): Asked
}

export function createRequests(market: ContractMarket): Requests {
  const [chain = ''] = market.chains
  const [pair] = market.pairs(chain)

  function goodValue({ path }: Operation, { name, form, type, examples, values }: Input): unknown {
    if (type === 'array') return market.chains.map((one) => `${market.token(one, 'MEME')}-${one}`)
    if (form === 'pair-id') return `${pair?.pair}-${chain}`
    if (form === 'token-id' && path.includes('top100')) return `${market.held.token}-${market.held.chain}`
    if (form === 'token-id') return `${market.token(chain, 'MEME')}-${chain}`
    if (examples !== undefined) return examples.at(-1)
    return { keyword: 'MEME', chain }[name] ?? values?.[0]
  }

  function make(operation: Operation, inputs: readonly (readonly [Input, unknown])[]): Asked {
    const given = inputs.filter(([, value]) => value !== undefined)
    const of = (place: Input['place']): Record<string, unknown> =>
      Object.fromEntries(given.filter(([input]) => input.place === place).map(([input, value]) => [input.name, value]))
    const path = given
      .filter(([input]) => input.place === 'path')
      .reduce((text, [{ name }, value]) => text.replace(`{${name}}`, encodeURIComponent(String(value))), operation.path)
    const query = of('query') as Record<string, string>
    return { method: operation.method, path, query, ...(operation.method === 'POST' ? { body: of('body') } : {}) }
  }

  return {
    goodValue,
    good: (operation) =>
      make(
        operation,
        operation.inputs.map((input) => [input, input.isRequired ? goodValue(operation, input) : undefined]),
      ),
    withInput: (operation, changed, value) =>
      make(
        operation,
        operation.inputs.map((input) => [
          input,
          input.name === changed.name ? value : input.isRequired ? goodValue(operation, input) : undefined,
        ]),
      ),
  }
}
