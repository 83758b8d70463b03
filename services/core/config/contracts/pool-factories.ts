/**
 * Factories that create a contract per pool, by chain. Each address was found in at least two public files (Uniswap's SDK and
 * documentation, Pancake's documentation, DefiLlama's adapters, 0x's settler, other projects' configurations); one found once is
 * omitted. Fees are those the exchanges or DefiLlama's fee adapters state for all pools of a factory; where sources differ, or pools
 * do, there is none.
 */
import type { KnownContract } from '../../domain/exchanges.js'

/** Hundredths of a basis point. */
const V2_FEE = 3000
const PANCAKE_V2_FEE = 2500

const v2 = (amm: string, address: string, fee?: number): KnownContract =>
  fee === undefined ? { address, protocol: 'uniswap-v2', amm } : { address, protocol: 'uniswap-v2', amm, fee }
const solidly = (amm: string, address: string): KnownContract => ({ address, protocol: 'solidly', amm })
const v3 = (amm: string, address: string): KnownContract => ({ address, protocol: 'uniswap-v3', amm })
const slipstream = (amm: string, address: string): KnownContract => ({ address, protocol: 'slipstream', amm })
const algebra = (amm: string, address: string): KnownContract => ({ address, protocol: 'algebra', amm })

/** At the same address on every chain below that has it. */
const PANCAKE_V3: KnownContract = {
  address: '0x0bfbcf9fa4f9c56b0f40a671ad40e0805a091865',
  protocol: 'pancake-v3',
  amm: 'pancakev3',
}
/** On the first chains; later ones have other addresses. */
const UNISWAP_V3 = v3('uniswapv3', '0x1f98431c8ad98523631ae4a59f267346ea31f984')
const SUSHI_V2 = v2('sushiswap', '0xc35dadb65012ec5796536bd9864ed8773abc74c4', V2_FEE)

export const POOL_FACTORIES: Readonly<Record<string, readonly KnownContract[]>> = {
  eth: [
    v2('uniswapv2', '0x5c69bee701ef814a2b6a3edd4b1652cb9cc5aa6f', V2_FEE),
    v2('sushiswap', '0xc0aee478e3658e2610c5f7a4a2e1777ce9e4f2ac', V2_FEE),
    v2('cakev2', '0x1097053fd2ea711dad45caccc45eff7548fcb362', PANCAKE_V2_FEE),
    v2('shibaswap', '0x115934131916c8b277dd010ee02de363c09d037c', V2_FEE),
    UNISWAP_V3,
    PANCAKE_V3,
    v3('sushiv3', '0xbaceb8ec6b9355dfc0269c18bac9d6e2bdc29c4f'),
  ],
  bsc: [
    v2('cakev2', '0xca143ce32fe78f1f7019d7d551a6402fc5350c73', PANCAKE_V2_FEE),
    v2('uniswapv2', '0x8909dc15e40173ff4699343b6eb8132c65e18ec6', V2_FEE),
    SUSHI_V2,
    v2('biswap', '0x858e3312ed3a876947ea49d572a7c42de08af7ee'),
    v2('apeswap', '0x0841bd0b734e4f5853f0dd8d7ea041c241fb0da6'),
    PANCAKE_V3,
    v3('uniswapv3', '0xdb1d10011ad0ff90774d0c6bb92e5c5c8b4461f7'),
    v3('sushiv3', '0x126555dd55a39328f69400d6ae4f782bd4c34abb'),
    algebra('thena', '0x306f06c147f064a010530292a1eb6737c3e378e4'),
  ],
  base: [
    v2('uniswapv2', '0x8909dc15e40173ff4699343b6eb8132c65e18ec6', V2_FEE),
    v2('cakev2', '0x02a84c1b3bbd7401a5f7fa98a384ebc70bb5749e', PANCAKE_V2_FEE),
    v2('sushiswap', '0x71524b4f93c58fcbf659783284e38825f0622859', V2_FEE),
    v2('baseswap', '0xfda619b6d20975be80a10332cd39b9a4b0faa8bb'),
    solidly('aerodrome', '0x420dd381b31aef6683db6b902084cb0ffece40da'),
    v3('uniswapv3', '0x33128a8fc17869897dce68ed026d694621f6fdfd'),
    v3('sushiv3', '0xc35dadb65012ec5796536bd9864ed8773abc74c4'),
    PANCAKE_V3,
    // Three generations.
    slipstream('aerodromecl', '0x5e7bb104d84c7cb9b682aac2f3d509f5f406809a'),
    slipstream('aerodromecl', '0xade65c38cd4849adba595a4323a8c7ddfe89716a'),
    slipstream('aerodromecl', '0xf8f2eb4940cfe7d13603dddd87f123820fc061ef'),
  ],
  arbitrum: [
    v2('uniswapv2', '0xf1d7cc64fb4452f05c498126312ebe29f30fbcf9', V2_FEE),
    v2('cakev2', '0x02a84c1b3bbd7401a5f7fa98a384ebc70bb5749e', PANCAKE_V2_FEE),
    SUSHI_V2,
    v2('camelot', '0x6eccab422d763ac031210895c81787e87b43a652'),
    UNISWAP_V3,
    PANCAKE_V3,
    v3('sushiv3', '0x1af415a1eba07a4986a52b6f2e7de7003d82231e'),
    algebra('camelotv3', '0x1a3c9b1d2f0529d97f2afc5136cc23e58f1fd35b'),
    algebra('camelotv4', '0xbefc4b405041c5833f53412ff997ed2f697a2f37'),
  ],
  optimism: [
    v2('uniswapv2', '0x0c3c1c532f1e39edf36be9fe0be1410313e074bf', V2_FEE),
    v2('sushiswap', '0xfbc12984689e5f15626bad03ad60160fe98b303c', V2_FEE),
    solidly('velodrome', '0xf1046053aa5682b4f9a81b5481394da16be5ff5a'),
    UNISWAP_V3,
    v3('sushiv3', '0x9c6522117e2ed1fe5bdb72bb0ed5e3f2bde7dbe0'),
    // Three generations.
    slipstream('velodromecl', '0x548118c7e0b865c2cfa94d15ec86b666468ac758'),
    slipstream('velodromecl', '0xcc0bddb707055e04e497ab22a59c2af4391cd12f'),
    slipstream('velodromecl', '0xe13dd1fba721aa81a1826d9523ac9bc7d260c879'),
  ],
  polygon: [
    v2('quickswap', '0x5757371414417b8c6caad45baef941abc7d3ab32', V2_FEE),
    v2('uniswapv2', '0x9e5a52f57b3038f1b8eee45f28b3c1967e22799c', V2_FEE),
    SUSHI_V2,
    UNISWAP_V3,
    v3('sushiv3', '0x917933899c6a5f8e37f31e19f92cdbff7e8ff0e2'),
    algebra('quickswapv3', '0x411b0facc3489691f28ad58c47006af5e3ab3a28'),
  ],
  avalanche: [
    v2('traderjoe', '0x9ad6c38be94206ca50bb0d90783181662f0cfa10', V2_FEE),
    v2('pangolin', '0xefa94de7a4656d787667c749f7e1223d71e9fd88', V2_FEE),
    v2('uniswapv2', '0x9e5a52f57b3038f1b8eee45f28b3c1967e22799c', V2_FEE),
    SUSHI_V2,
    v3('uniswapv3', '0x740b1c1de25031c31ff4fc9a62f554a55cdc1bad'),
    v3('sushiv3', '0x3e603c14af37ebdad31709c4f848fc6ad5bec715'),
  ],
}
