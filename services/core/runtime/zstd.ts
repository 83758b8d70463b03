/**
 * Zstandard: Node's own from version 22.15 on, before it the same code as WebAssembly. Level 1 is three times as fast as LMDB's LZ4
 * and finds a third more.
 */
import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import * as zlib from 'node:zlib'

export type Zstd = {
  compress(bytes: Uint8Array): Uint8Array
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
    compress: (bytes) => zstdCompressSync(bytes, options),
    decompress: (bytes) => zstdDecompressSync(bytes),
  }
}

/** What is used of it: Node's types have it only with those of browsers. */
type Wasm = { Module: new (code: Uint8Array) => object; Instance: new (module: object, imports: object) => Instance }
type Instance = { exports: object }

type ZstdModule = {
  /** Its memory, once it is loaded. */
  HEAPU8?: Uint8Array
  instantiateWasm?(imports: object, receive: (instance: Instance) => void): object
  init(): void
}

/** The package would load its code later than the first chunk is read. */
export function wasmZstd(): Zstd {
  const require = createRequire(import.meta.url)
  const { compress, decompress } = require('@bokuweb/zstd-wasm') as {
    compress(bytes: Uint8Array, level: number): Uint8Array
    decompress(bytes: Uint8Array): Uint8Array
  }
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
    compress: (bytes) => compress(bytes, LEVEL),
    decompress(bytes) {
      const whole = decompress(bytes)
      return Buffer.from(whole.buffer, whole.byteOffset, whole.byteLength)
    },
  }
}

let loaded: Zstd | undefined

export function zstd(): Zstd {
  loaded ??= nativeZstd() ?? wasmZstd()
  return loaded
}
