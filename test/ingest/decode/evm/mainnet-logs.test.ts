/** Single logs from mainnets, decoded to what explorers and other decoders show. */
import { expect, it } from 'vitest'
import type { EvmLog } from '../../../../services/ingest/decode/evm/log.js'
import { balancer } from '../../../../services/ingest/decode/evm/protocols/balancer/balancer.js'
import { balancerV3 } from '../../../../services/ingest/decode/evm/protocols/balancer/balancer-v3.js'
import { curve } from '../../../../services/ingest/decode/evm/protocols/curve/curve.js'
import { pancakePairOf } from '../../../../services/ingest/decode/evm/protocols/four-meme/four-meme-contracts.js'
import { liquidityBook } from '../../../../services/ingest/decode/evm/protocols/liquidity-book/liquidity-book.js'
import { venue } from './rig.js'

const place = { blockHash: `0x${'0'.repeat(64)}`, txIndex: 0 }

it('Balancer: AAVE for wstETH in the 80/20 pool', () => {
  const log: EvmLog = {
    ...place,
    address: '0xba12222222228d8ba445958a75a0704d566bf2c8',
    topics: [
      '0x2170c741c41531aec20e7c107c24eecfdd15e69c9bb0a8dd37b1840b9e0b207b',
      '0x3de27efa2f1aa663ae5d458857e731c129069f29000200000000000000000588',
      '0x0000000000000000000000007fc66500c84a76ad7e9c93437bfc5ac33e2ddae9',
      '0x0000000000000000000000007f39c581f595b53c5cb19bd0b3f8da6c935e2ca0',
    ],
    data: '0x000000000000000000000000000000000000000000000000932eabea11d74a65000000000000000000000000000000000000000000000000064454de48666cab',
    blockNumber: 25_635_720,
    txHash: '0x313952217900e31ae29f61d6f7fcb5c1406584824aa3f8f1816a03463c76838d',
    logIndex: 0x74,
  }
  const tokens = ['0x7f39c581f595b53c5cb19bd0b3f8da6c935e2ca0', '0x7fc66500c84a76ad7e9c93437bfc5ac33e2ddae9']
  const at = venue('balancer', { tokens, facts: { vault: log.address } })
  expect(balancer.venueOf(log)).toBe('0x3de27efa2f1aa663ae5d458857e731c129069f29')
  expect(balancer.apply(log, at, { reserves: [10n ** 21n, 10n ** 21n] }).events).toMatchObject([
    {
      kind: 'swap',
      tokenIn: 1,
      tokenOut: 0,
      amountIn: 10_605_603_194_314_115_685n,
      amountOut: 451_579_176_318_037_163n,
    },
  ])
})

it('Curve: 15,000 USDC for DAI in the 3pool', () => {
  const log: EvmLog = {
    ...place,
    address: '0xbebc44782c7db0a1a60cb6fe97d0b483032ff1c7',
    topics: [
      '0x8b3e96f2b889fa771c53c981b40daf005f63f637f1869f707052d15a3dd97140',
      '0x0000000000000000000000004dda7e6831592cf7ec58aa4f2cf76350e73bbfc8',
    ],
    data: '0x0000000000000000000000000000000000000000000000000000000000000001000000000000000000000000000000000000000000000000000000037e11d600000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000032c56f1b2f917e4e6c4',
    blockNumber: 12_878_245,
    txHash: '0x56f587d22597e0bae38f1a665f5b83f3a11d936aa739476f03c5b1acaf406260',
    logIndex: 0xd0,
  }
  const tokens = [
    '0x6b175474e89094c44da98b954eedeac495271d0f',
    '0xa0b86991c6218b36c1d19d4a2e9eb0ce3606eb48',
    '0xdac17f958d2ee523a2206206994597c13d831ec7',
  ]
  const at = venue('curve', { id: log.address, tokens, facts: { numbering: 'uint256', isCrypto: false } })
  const who = '0x4dda7e6831592cf7ec58aa4f2cf76350e73bbfc8'
  expect(curve.apply(log, at, { reserves: null }).events).toMatchObject([
    {
      kind: 'swap',
      sender: who,
      tokenIn: 1,
      tokenOut: 0,
      amountIn: 15_000_000_000n,
      amountOut: BigInt('0x32c56f1b2f917e4e6c4'),
    },
  ])
})

it('Balancer V3: one boosted token for another', () => {
  const log: EvmLog = {
    ...place,
    address: '0xba1333333333a1ba1108e8412f11850a5c319ba9',
    topics: [
      '0x0874b2d545cb271cdbda4e093020c452328b24af12382ed62c4d00f5c26709db',
      '0x000000000000000000000000c4ce391d82d164c166df9c8336ddf84206b2f812',
      '0x0000000000000000000000000fe906e030a44ef24ca8c7dc7b7c53a6c4f00ce9',
      '0x000000000000000000000000775f661b0bd1739349b9a2a3ef60be277c5d2d29',
    ],
    data: '0x0000000000000000000000000000000000000000000000001bfd1d4944212ddb00000000000000000000000000000000000000000000000017a398a7e535ab3d000000000000000000000000000000000000000000000000000012309ce54000000000000000000000000000000000000000000000000000000024af7570555e',
    blockNumber: 1,
    txHash: `0x${'1'.repeat(64)}`,
    logIndex: 1,
  }
  const tokens = ['0x0fe906e030a44ef24ca8c7dc7b7c53a6c4f00ce9', '0x775f661b0bd1739349b9a2a3ef60be277c5d2d29']
  const at = venue('balancer-v3', { tokens, facts: { vault: log.address } })
  expect(balancerV3.venueOf(log)).toBe('0xc4ce391d82d164c166df9c8336ddf84206b2f812')
  expect(balancerV3.apply(log, at, { reserves: null }).events).toMatchObject([
    { kind: 'swap', tokenIn: 0, tokenOut: 1, amountIn: 2016800408644693467n, amountOut: 1_703_372_930_948_639_549n },
  ])
})

/** The token transfers of the same transaction: 78,785,160 into the pair, 78,785,156 out of it. */
it('Liquidity Book: USDC for USDt on Avalanche, the protocol fee paid on top of the bin', () => {
  const log: EvmLog = {
    ...place,
    address: '0x7c13d4c3e9dfa683e7a5792a9ff20cb5fd22b0c0',
    topics: [
      '0xad7d6f97abf51ce18e17a38f4d70e975be9c0708474987bb3e26ad21bd93ca70',
      '0x000000000000000000000000d4f65bee477ba1a9b892b23aec3725407035f0a0',
      '0x0000000000000000000000002c3601fe09c23df8beb8216298d1502c985e376f',
    ],
    data: '0x00000000000000000000000000000000000000000000000000000000007ffffe00000000000000000000000004b22775000000000000000000000000000000000000000000000000000000000000000000000000000000000000000004b22a84000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000003d8e000000000000000000000000000000000000000000000000000000000000031300000000000000000000000000000000',
    blockNumber: 30806758,
    txHash: '0x5b4d950e3aad5c482447592a6620293e271f782f4c65bffb5b5acfc65325cf85',
    logIndex: 4,
  }
  const at = venue('liquidity-book', { id: log.address })
  const { state } = liquidityBook.apply(log, at, { reserves: [10n ** 9n, 10n ** 9n], open: null })
  expect(liquidityBook.settle?.(at, state).events).toMatchObject([
    {
      kind: 'swap',
      sender: '0xd4f65bee477ba1a9b892b23aec3725407035f0a0',
      recipient: '0x2c3601fe09c23df8beb8216298d1502c985e376f',
      tokenIn: 1,
      tokenOut: 0,
      amountIn: 78785160n,
      amountOut: 78785156n,
      reserves: [10n ** 9n - 78785156n, 10n ** 9n + 78784373n],
    },
  ])
})

it('Pancake: the address of the CAKE/WBNB pair is derived from its factory', () => {
  const [cake, wbnb] = ['0x0e09fabb73bd3ade0a17ecc321fd13a19e81ce82', '0xbb4cdb9cbd36b01bd1cbaebf2de08d9173bc095c']
  expect(pancakePairOf([wbnb, cake])).toBe('0x0ed7e52944161450477ee417de9cd3a859b14fd0')
})
