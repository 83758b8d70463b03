/** A Liquidity Book pair met in mid-life. */

import { selectorOf } from '../../abi/keccak.js'
import { type Answer, addressWord, answeredAddress, answeredUint, callOf, uintWord } from '../../abi/view-calls.js'
import type { EvmLog } from '../../log.js'
import type { ChainContracts, Reading, Refusal } from '../../protocol.js'
import type { Venue } from '../../venue.js'
import type { BookState } from './liquidity-book-logs.js'

// joe-v2: ILBPair.sol of 2.1 and 2.2, then of 2.0.
const FACTORY = [selectorOf('getFactory()'), selectorOf('factory()')] as const
const TOKEN_X = [selectorOf('getTokenX()'), selectorOf('tokenX()')] as const
const TOKEN_Y = [selectorOf('getTokenY()'), selectorOf('tokenY()')] as const
/** 2.0 has it as the first of the fee's parameters. */
const BIN_STEP = [selectorOf('getBinStep()'), selectorOf('feeParameters()')] as const
const RESERVES = [selectorOf('getReserves()'), selectorOf('getReservesAndId()')] as const
const PAIR_INFORMATION = selectorOf('getLBPairInformation(address,address,uint256)')

const AMM_OF_UNKNOWN = 'lbfork'

export function* describeBook(id: string, _log: EvmLog, chain: ChainContracts): Reading<Venue | Refusal> {
  const answers = yield [...FACTORY, ...TOKEN_X, ...TOKEN_Y, ...BIN_STEP].map((selector) => callOf(id, selector))
  const eitherAddress = (place: number) => answeredAddress(answers[place]) ?? answeredAddress(answers[place + 1])
  const [factory, tokenX, tokenY] = [eitherAddress(0), eitherAddress(2), eitherAddress(4)]
  const binStep = answeredUint(answers[6]) ?? answeredUint(answers[7])
  if (factory === null || tokenX === null || tokenY === null || binStep === null) {
    return { refused: 'it does not answer like a Liquidity Book pair' }
  }
  const contract = chain.contracts.get(factory)
  const known = contract?.protocol === 'liquidity-book' ? contract : undefined
  if (known === undefined && !chain.named.has(id)) return { refused: `its factory ${factory} is not known` }
  if (known !== undefined) {
    const pairOf = callOf(factory, PAIR_INFORMATION, addressWord(tokenX), addressWord(tokenY), uintWord(binStep))
    const [information] = yield [pairOf]
    if (answeredAddress(information, 1) !== id) return { refused: `its factory ${factory} does not know it` }
  }
  return {
    id,
    protocol: 'liquidity-book',
    amm: known?.amm ?? AMM_OF_UNKNOWN,
    tokens: [tokenX, tokenY],
    fee: null,
    creator: null,
  }
}

export function* readBookState({ id }: Venue): Reading<BookState> {
  const answers = yield RESERVES.map((selector) => callOf(id, selector))
  return { reserves: reservesIn(answers[0]) ?? reservesIn(answers[1]), open: null }
}

function reservesIn(answer: Answer): readonly bigint[] | null {
  const [reserveX, reserveY] = [answeredUint(answer, 0), answeredUint(answer, 1)]
  return reserveX === null || reserveY === null ? null : [reserveX, reserveY]
}
