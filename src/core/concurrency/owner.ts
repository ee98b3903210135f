import { AsyncLocalStorage } from 'node:async_hooks'

/** On whose behalf something runs: a client’s network, or an organization once its caller is known. */
interface Owner {
  name: string
}

/** The owner of our own work, such as background jobs and what is gathered for several owners. */
export const OURS = ''

const owners = new AsyncLocalStorage<Owner>()
/** Following owners through promises takes time, so it happens only where something asks for them. */
let isAsked = false

/** Makes `currentOwner` return the owners that are named from now on. */
export function followOwners(): void {
  isAsked = true
}

/** Runs work, and what follows from it, on behalf of an owner. @param name returns the owner’s name; called if needed. */
export function onBehalfOf<T>(name: () => string, work: () => T): T {
  return isAsked ? owners.run({ name: name() }, work) : work()
}

/** Names the owner of the running work, once it is known better. Does nothing for our own work. */
export function renameOwner(name: string): void {
  const owner = owners.getStore()
  if (owner !== undefined && owner.name !== OURS) owner.name = name
}

/** Returns the owner of the running work. */
export const currentOwner = (): string => owners.getStore()?.name ?? OURS
