import { statfs } from 'node:fs/promises'
import type { Finding } from './finding.ts'
import { found } from './finding.ts'

const GIB = 1024 ** 3

/** The minimum free space, in bytes. A backup or a vacuum needs about the size of the database. */
const MIN_FREE_BYTES = GIB

/** Measures the free space of a directory’s file system. Null if the directory does not exist. */
export async function examineDisk(directory: string): Promise<Finding | null> {
  const system = await statfs(directory).catch(() => null)
  return system && judgeSpace(system.bavail * system.bsize, directory)
}

/** Returns the finding for free space. @param bytes the free bytes. */
export function judgeSpace(bytes: number, directory: string): Finding {
  const free = (bytes / GIB).toFixed(1)
  return found(bytes < MIN_FREE_BYTES ? 'DISK_LOW' : 'DISK_OK', { free, directory })
}
