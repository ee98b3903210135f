import { execFileSync } from 'node:child_process'

/**
 * Returns whether a program is installed.
 * @param version the argument for printing its version, with exit code 0.
 */
export function isInstalled(program: string, version = '--version'): boolean {
  try {
    execFileSync(program, [version], { stdio: 'ignore' })
    return true
  } catch {
    return false
  }
}
