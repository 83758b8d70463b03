/**
 * Zstandard: Node's own from version 22.15 on, before it the same code as WebAssembly. Level 1 is three times as fast as LMDB's LZ4
 * and finds a third more.
 */
import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import * as zlib from 'node:zlib'

export type Zstd = {
  /** `headBytes`: how many bytes are left free before it, which have any value. */
  compress(bytes: Uint8Array, headBytes?: number): Buffer
  /** Throws if they are not whole. */
  decompress(bytes: Uint8Array): Buffer
}

const LEVEL = 1

type NativeZstd = {
  constants: { ZSTD_c_compressionLevel: number }
  zstdCompressSync?(bytes: Uint8Array, options: { params: Record<number, number> }): Buffer
  zstdDecompressSync?(bytes: Uint8Array): Buffer
}

export function nativeZstd(): Zstd | undefined {
  const { constants, zstdCompressSync, zstdDecompressSync } = zlib as unknown as NativeZstd
  if (zstdCompressSync === undefined || zstdDecompressSync === undefined) return undefined
  const options = { params: { [constants.ZSTD_c_compressionLevel]: LEVEL } }
  return {
    compress: (bytes, headBytes = 0) => copyBehind(headBytes, zstdCompressSync(bytes, options)),
    decompress: (bytes) => zstdDecompressSync(bytes),
  }
}

/** What is used of it: Node's types have it only with those of browsers. */
type Wasm = { Module: new (code: Uint8Array) => object; Instance: new (module: object, imports: object) => Instance }
type Instance = { exports: object }

type ZstdModule = {
  /** Its memory, once it is loaded; another array after it has grown. */
  HEAPU8?: Uint8Array
  instantiateWasm?(imports: object, receive: (instance: Instance) => void): object
  init(): void
  _malloc(bytes: number): number
  _free(address: number): void
  _ZSTD_compressBound(bytes: number): number
  _ZSTD_createCCtx(): number
  _ZSTD_compress_usingDict(
    ...args: [
      context: number,
      to: number,
      room: number,
      from: number,
      bytes: number,
      dict: 0,
      dictBytes: 0,
      level: number,
    ]
  ): number
  _ZSTD_isError(result: number): number
}

/** The package would load its code later than the first chunk is read. */
export function wasmZstd(): Zstd {
  const require = createRequire(import.meta.url)
  const { decompress } = require('@bokuweb/zstd-wasm') as { decompress(bytes: Uint8Array): Uint8Array }
  const folder = dirname(require.resolve('@bokuweb/zstd-wasm'))
  const { Module } = require(join(folder, 'module.js')) as { Module: ZstdModule }
  const { WebAssembly } = globalThis as unknown as { WebAssembly: Wasm }
  Module.instantiateWasm = (imports, receive) => {
    const code = new WebAssembly.Module(readFileSync(join(folder, 'zstd.wasm')))
    const instance = new WebAssembly.Instance(code, imports)
    receive(instance)
    return instance.exports
  }
  // Once for a thread: its functions stay bound to the first instance.
  if (Module.HEAPU8 === undefined) Module.init()
  return {
    compress: compressorOf(Module),
    decompress(bytes) {
      const whole = decompress(bytes)
      return Buffer.from(whole.buffer, whole.byteOffset, whole.byteLength)
    },
  }
}

/** The package's own makes a context for each call, and copies what it wrote: a fifth of the time. */
function compressorOf(zstd: ZstdModule): Zstd['compress'] {
  const memory = (): Uint8Array => zstd.HEAPU8 as Uint8Array
  const context = zstd._ZSTD_createCCtx()
  let [from, to, room, capacity] = [0, 0, 0, -1]

  function reserve(bytes: number): void {
    zstd._free(from)
    zstd._free(to)
    capacity = Math.max(bytes, SMALLEST_CAPACITY)
    room = zstd._ZSTD_compressBound(capacity)
    from = zstd._malloc(capacity)
    to = zstd._malloc(room)
  }

  return (bytes, headBytes = 0) => {
    const { length } = bytes
    if (length > capacity) reserve(length)
    memory().set(bytes, from)
    const size = zstd._ZSTD_compress_usingDict(context, to, room, from, length, 0, 0, LEVEL)
    if (zstd._ZSTD_isError(size) !== 0) throw new Error(`Zstandard cannot compress ${length} bytes`)
    return copyBehind(headBytes, memory().subarray(to, to + size))
  }
}

/** Of most chunks of the log. */
const SMALLEST_CAPACITY = 512 * 1024

function copyBehind(headBytes: number, bytes: Uint8Array): Buffer {
  const copy = Buffer.allocUnsafe(headBytes + bytes.length)
  copy.set(bytes, headBytes)
  return copy
}

let loaded: Zstd | undefined

export function zstd(): Zstd {
  loaded ??= nativeZstd() ?? wasmZstd()
  return loaded
}
