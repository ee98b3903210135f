import { spawn } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { connect } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { onTestFinished } from 'vitest'

/** Starts a program of a Debian package and waits until it listens; stopped when the test ends. */
export async function startProgram(program: string, args: readonly string[], port: number): Promise<void> {
  const child = spawn(program, args, { stdio: 'ignore' })
  onTestFinished(() => void child.kill('SIGKILL'))
  for (let tries = 0; tries < 200; tries++) {
    const isOpen = await new Promise<boolean>((resolve) => {
      const socket = connect(port, '127.0.0.1', () => resolve(true)).on('error', () => resolve(false))
      socket.once('close', () => undefined)
      socket.once('connect', () => socket.destroy())
    })
    if (isOpen) return
    await pause(50)
  }
  throw new Error(`${program} does not listen.`)
}

/** Creates a folder that is removed when the test ends. */
export function scratchFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'allclear-server-'))
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
  return folder
}
