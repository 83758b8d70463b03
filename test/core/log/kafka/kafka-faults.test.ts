/** How a writer of state reads a broker's error codes: `fenced` stops it, any other error keeps its meaning. */
import { createRequire } from 'node:module'
import { expect, it } from 'vitest'
import { transactionFault } from '../../../../services/core/log/kafka/fenced-topic.js'
import { faultOf, isTransient, typeOf } from '../../../../services/core/log/kafka/kafka-faults.js'

const { createErrorFromCode } = createRequire(import.meta.url)('kafkajs/src/protocol/error') as {
  createErrorFromCode: (code: number) => Error
}
const { KafkaJSSASLAuthenticationError } = createRequire(import.meta.url)('kafkajs/src/errors') as {
  KafkaJSSASLAuthenticationError: new (message: string) => Error
}
/** As thrown: wrapped with the failed action. */
const broker = (code: number) => faultOf(createErrorFromCode(code), 'writing')

it.each([
  [47, 'INVALID_PRODUCER_EPOCH'],
  [90, 'PRODUCER_FENCED'],
])('%d %s means that another process took over', (code, type) => {
  expect(typeOf(broker(code))).toBe(type)
  expect(transactionFault('dex.state.eth', broker(code))).toMatchObject({ code: 'fenced', retry: false })
})

it.each([
  [45, 'OUT_OF_ORDER_SEQUENCE_NUMBER'],
  [48, 'INVALID_TXN_STATE'],
  [49, 'INVALID_PRODUCER_ID_MAPPING'],
  [52, 'TRANSACTION_COORDINATOR_FENCED'],
  [59, 'UNKNOWN_PRODUCER_ID'],
  [120, 'TRANSACTION_ABORTABLE'],
])('%d %s means a lost transaction, worth another claim', (code, type) => {
  const fault = transactionFault('dex.state.eth', broker(code))
  expect(fault).toMatchObject({ code: 'transaction_lost', retry: true, where: { topic: 'dex.state.eth' } })
  expect(fault).toMatchObject({ message: expect.stringContaining(type) })
})

it.each([
  [10, 'log_failed', 'MESSAGE_TOO_LARGE'],
  [53, 'log_refused', 'TRANSACTIONAL_ID_AUTHORIZATION_FAILED'],
  [89, 'log_away', 'Unknown error code 89'],
  [117, 'log_failed', 'UNKNOWN_ERROR_CODE_117'],
])('%d keeps its meaning, %s', (code, meaning, text) => {
  const fault = transactionFault('dex.state.eth', broker(code))
  expect(fault).toMatchObject({ code: meaning, message: expect.stringContaining(text) })
})

it('treats throttling as transient', () => {
  expect(isTransient(createErrorFromCode(89))).toBe(true)
})

it.each([
  ['Not connected', 'log_away'],
  ['Closed connection', 'log_away'],
  ['Connection error: read ECONNRESET', 'log_away'],
  ['Request SaslAuthenticate(key: 36, version: 1) timed out', 'log_away'],
  [
    'Authentication failed during authentication due to invalid credentials with SASL mechanism SCRAM-SHA-512',
    'log_refused',
  ],
])('a login that ends with "%s" is %s: a broker that stops has not rejected the password', (reason, code) => {
  const error = new KafkaJSSASLAuthenticationError(`SASL SCRAM SHA512 authentication failed: ${reason}`)
  expect(faultOf(error, 'reading')).toMatchObject({ code, retry: code === 'log_away' })
})
