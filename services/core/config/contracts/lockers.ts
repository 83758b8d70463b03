/**
 * Contracts that hold tokens and liquidity shares until a date, by chain. Each address was found in two independent public places:
 * UNCX's own list of lockers, DefiLlama's adapters (unicrypt, pinksale, team-finance), other projects' configurations.
 */

/** By its public interface (`services/ingest/decode/evm/risk/lockers.ts`). */
export const LOCKER_KINDS = ['uncx', 'uncx-v3', 'uncx-v4', 'pinklock', 'pinklock-v1', 'team-finance'] as const
export type LockerKind = (typeof LOCKER_KINDS)[number]

export type KnownLocker = {
  /** Lower case. */
  address: string
  kind: LockerKind
  /** The platform's name in the API. */
  name: string
}

const uncx = (address: string): KnownLocker => ({ address, kind: 'uncx', name: 'UNCX' })
const uncxV3 = (address: string): KnownLocker => ({ address, kind: 'uncx-v3', name: 'UNCX' })
const uncxV4 = (address: string): KnownLocker => ({ address, kind: 'uncx-v4', name: 'UNCX' })
const pinkLock = (address: string): KnownLocker => ({ address, kind: 'pinklock', name: 'PinkLock' })
const teamFinance = (address: string): KnownLocker => ({ address, kind: 'team-finance', name: 'Team Finance' })

export const LOCKERS: Readonly<Record<string, readonly KnownLocker[]>> = {
  eth: [
    uncx('0x663a5c229c09b049e36dcc11a9b0d4a8eb9db214'),
    uncxV3('0xfd235968e65b0990584585763f837a5b5330e6de'),
    uncxV4('0x30529ac67d5ac5f33a4e7fe533149a567451f023'),
    pinkLock('0x71b5759d73262fbb223956913ecf4ecc51057641'),
    teamFinance('0xe2fe530c047f2d85298b07d9333c05737f1435fb'),
  ],
  bsc: [
    uncx('0xc765bddb93b0d1c1a88282ba0fa6b2d00e3e0c83'),
    uncxV3('0xfe88dab083964c56429baa01f37ec2265abf1557'),
    uncxV4('0x62d61d5695013a5aa29a628b83d91e240984b613'),
    pinkLock('0x407993575c91ce7643a4d4ccacc9a98c36ee1bbe'),
    { address: '0x7ee058420e5937496f5a2096f04caa7721cf70cc', kind: 'pinklock-v1', name: 'PinkLock' },
    teamFinance('0x0c89c0407775dd89b12918b9c0aa42bf96518820'),
  ],
  base: [
    uncx('0xc4e637d37113192f4f1f060daebd7758de7f4131'),
    uncxV3('0x231278edd38b00b07fbd52120cef685b9baebcc1'),
    uncxV4('0x610b43e981960b45f818a71cd14c91d35cda8502'),
    teamFinance('0x4f0fd563be89ec8c3e7d595bf3639128c0a7c33a'),
  ],
  arbitrum: [
    uncxV3('0x6b5360b419e0851b4b81644e0f63c1a9778f2506'),
    uncxV4('0x62d61d5695013a5aa29a628b83d91e240984b613'),
    teamFinance('0xe0b0d2021293bee9715e1db3be31b55c00f72a75'),
  ],
  polygon: [
    uncx('0xadb2437e6f65682b85f814fbc12fec0508a7b1d0'),
    uncxV3('0x40f6301edb774e8b22adc874f6cb17242baeb8c4'),
    uncxV4('0x1ec811ad6039e33b86458cdb267667af083261ed'),
    pinkLock('0x6c9a0d8b1c7a95a323d744de30cf027694710633'),
  ],
}
