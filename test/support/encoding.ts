import { createHash } from 'node:crypto'
import { type Compressed, compress as compressAnew } from '../../src/http/response/encoding.ts'

// biome-ignore lint/performance/noBarrelFile: it stands in for the whole module.
export * from '../../src/http/response/encoding.ts'

const compressed = new Map<string, Promise<Compressed>>()

/**
 * Replaces the function of `src/http/response/encoding.ts` for what is served: each file is compressed once in a worker, not for each
 * service that starts in it.
 */
export function compress(file: Buffer): Promise<Compressed> {
  const hash = createHash('sha256').update(file).digest('base64')
  const known = compressed.get(hash) ?? compressAnew(file)
  compressed.set(hash, known)
  return known
}
