/**
 * Contracts that hold many pools, that list pools (Curve's registries), or that create pools of bins and curves, by chain.
 * Each address was found in two independent public places: Uniswap's, Curve's (curve-js, metaregistry), Balancer's, LFJ's and
 * four.meme's own documents or code, DefiLlama's adapters, other projects' configurations. One found in a single place is omitted.
 */
import type { KnownContract } from '../../domain/exchanges.js'

const uniswapV4 = (address: string, positions: string): KnownContract => ({
  address,
  protocol: 'uniswap-v4',
  amm: 'uniswapv4',
  others: { positions },
})

const curve = (address: string): KnownContract => ({ address, protocol: 'curve', amm: 'curve' })
const liquidityBook = (address: string): KnownContract => ({ address, protocol: 'liquidity-book', amm: 'lfj' })
const fourMeme = (address: string): KnownContract => ({ address, protocol: 'four-meme', amm: 'fourmeme' })

/** The same on every chain. */
const BALANCER: KnownContract = {
  address: '0xba12222222228d8ba445958a75a0704d566bf2c8',
  protocol: 'balancer',
  amm: 'balancer',
}
const BALANCER_V3: KnownContract = {
  address: '0xba1333333333a1ba1108e8412f11850a5c319ba9',
  protocol: 'balancer-v3',
  amm: 'balancerv3',
}
const CURVE_TWOCRYPTO_NG = curve('0x98ee851a00abee0d95d08cf4ca2bdce32aeaaf7f')
const LIQUIDITY_BOOK_21 = liquidityBook('0x8e42f2f4101563bf679975178e880fd87d3efd4e')
const LIQUIDITY_BOOK_22 = liquidityBook('0xb43120c4745967fa9b93e79c149e66b0f2d6fe0c')

export const SINGLETONS: Readonly<Record<string, readonly KnownContract[]>> = {
  eth: [
    uniswapV4('0x000000000004444c5dc75cb358380d2e3de08a90', '0xbd216513d74c8cf14cf4747e6aaa6420ff64ee9e'),
    BALANCER,
    BALANCER_V3,
    curve('0xf98b45fa17de75fb1ad0e7afd971b0ca00e379fc'), // MetaRegistry: lists what the others list
    curve('0x90e00ace148ca3b23ac1bc8c240c2a7dd9c2d7f5'), // Registry, for blocks before it
    curve('0xb9fc157394af804a3578134a6585c0dc9cc990d4'), // stable factory
    curve('0x6a8cbed756804b16e05e741edabd5cb544ae21bf'), // stable factory, new generation
    curve('0x0c0e5f2ff0ff18a3be9b835635039256dc4b4963'), // three crypto coins, new generation
    CURVE_TWOCRYPTO_NG,
    liquidityBook('0xdc8d77b69155c7e68a95a4fb0f06a71ff90b943a'), // 2.1
  ],
  bsc: [
    uniswapV4('0x28e2ea090877bf75740558f6bfb36a5ffee9e9df', '0x7a4a5c919ae2541aed11041a1aeee68f1287f95b'),
    curve('0xd7e72f3615aa65b92a4dbdc211e296a35512988b'), // stable factory, new generation
    curve('0xc55837710bc500f1e3c7bb9dd1d51f7c5647e657'), // three crypto coins, new generation
    curve('0x38f8d93406fa2d9924dcfcb67db5b0521fb20f7d'), // the same, as curve-js has it
    CURVE_TWOCRYPTO_NG,
    liquidityBook('0x43646a8e839b2f2766392c1bf8f60f6e587b6960'), // 2.0
    LIQUIDITY_BOOK_21,
    fourMeme('0x5c952063c7fc8610ffdb798152d69f0b9550762b'), // TokenManager2
    fourMeme('0xec4549cadce5da21df6e6422d448034b5233bfbc'), // TokenManager
  ],
  base: [
    uniswapV4('0x498581ff718922c3f8e6a244956af099b2652b2b', '0x7c5f5a4bbd8fd63184577525326123b519429bdc'),
    BALANCER,
    BALANCER_V3,
    curve('0x3093f9b57a428f3eb6285a589cb35bea6e78c336'), // stable factory
    curve('0x5ef72230578b3e399e6c6f4f6360edf95e83bbfd'), // crypto factory
    curve('0xd2002373543ce3527023c75e7518c274a51ce712'), // stable factory, new generation
    curve('0xc9fe0c63af9a39402e8a5514f9c43af0322b665f'), // two crypto coins, new generation
    curve('0xa5961898870943c68037f6848d2d866ed2016bcb'), // three crypto coins, new generation
  ],
  arbitrum: [
    uniswapV4('0x360e68faccca8ca495c1b759fd9eee466db9fb32', '0xd88f38f930b7952f2db2432cb002e7abbf3dd869'),
    BALANCER,
    BALANCER_V3,
    curve('0x445fe580ef8d70ff569ab36e80c647af338db351'), // Registry
    curve('0x0e9fbb167df83ede3240d6a5fa5d40c6c6851e15'), // Registry of crypto pools
    curve('0xb17b674d9c5cb2e441f8e196a2f048a81355d031'), // stable factory
    curve('0x9af14d26075f142eb3f292d5065eb3faa646167b'), // stable factory, new generation
    curve('0xbc0797015fcfc47d9c1856639cae50d0e69fbee8'), // three crypto coins, new generation
    CURVE_TWOCRYPTO_NG,
    liquidityBook('0x1886d09c9ade0c5db822d85d21678db67b6c2982'), // 2.0
    LIQUIDITY_BOOK_21,
    LIQUIDITY_BOOK_22,
  ],
  optimism: [
    uniswapV4('0x9a13f98cb987694c9f086b1f5eb990eea8264ec3', '0x3c3ea4b57a46241e54610e5f022e5c45859a1017'),
    BALANCER,
    BALANCER_V3,
    curve('0xc5cfada84e902ad92dd40194f0883ad49639b023'), // Registry
    curve('0x7da64233fefb352f8f501b357c018158ed8aa455'), // Registry of crypto pools
    curve('0x2db0e83599a91b508ac268a6197b8b14f5e72840'), // stable factory
    curve('0x5eee3091f747e60a045a2e715a4c71e600e31f6e'), // stable factory, new generation
    curve('0xc6c09471ee39c7e30a067952fcc89c8922f9ab53'), // three crypto coins, new generation
    CURVE_TWOCRYPTO_NG,
  ],
  polygon: [
    uniswapV4('0x67366782805870060151383f4bbff9dab53e5cd6', '0x1ec2ebf4f37e7363fdfe3551602425af0b3ceef9'),
    BALANCER,
    curve('0x094d12e5b541784701fd8d65f11fc0598fbc6332'), // Registry
    curve('0x47bb542b9de58b970ba50c9dae444ddb4c16751a'), // Registry of crypto pools
    curve('0x722272d36ef0da72ff51c5a65db7b870e2e8d4ee'), // stable factory
    curve('0xe5de15a9c9bbedb4f5ec13b131e61245f2983a69'), // crypto factory
    curve('0x1764ee18e8b3cca4787249ceb249356192594585'), // stable factory, new generation
    curve('0xc1b393efef38140662b91441c6710aa704973228'), // three crypto coins, new generation
    CURVE_TWOCRYPTO_NG,
  ],
  avalanche: [
    uniswapV4('0x06380c0e0912312b5150364b9dc4542ba0dbbc85', '0xb74b1f14d2754acfcbbe1a221023a5cf50ab8acd'),
    BALANCER,
    BALANCER_V3,
    curve('0x8474ddbe98f5aa3179b3b3f5942d724afcdec9f6'), // Registry
    curve('0x90f421832199e93d01b64daf378b183809eb0988'), // Registry of crypto pools
    curve('0xb17b674d9c5cb2e441f8e196a2f048a81355d031'), // stable factory
    curve('0x1764ee18e8b3cca4787249ceb249356192594585'), // stable factory, new generation
    curve('0x3d6cb2f6dcf47cdd9c13e4e3beae9af041d8796a'), // three crypto coins, new generation
    CURVE_TWOCRYPTO_NG,
    liquidityBook('0x6e77932a92582f504ff6c4bdbcef7da6c198aeef'), // 2.0
    LIQUIDITY_BOOK_21,
    LIQUIDITY_BOOK_22,
  ],
}
