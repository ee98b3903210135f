import { createHash } from 'node:crypto'
import { type Compressed, compress as compressAnew } from '../../src/http/response/encoding.ts'

// biome-ignore lint/performance/noBarrelFile: it replaces the whole module.
export * from '../../src/http/response/encoding.ts'

const compressed = new Map<string, Promise<Compressed>>()

/**
 * Replaces the function of `src/http/response/encoding.ts` in served assets. Compresses each file once per worker, not for each
 * service that starts in it.
 */
export function compress(file: Buffer): Promise<Compressed> {
  const hash = createHash('sha256').update(file).digest('base64')
  const known = compressed.get(hash) ?? compressAnew(file)
  compressed.set(hash, known)
  return known
}
