import { afterAll, onTestFinished, TestRunner } from 'vitest'

/** Calls `work` after the current test; outside of tests, after all tests of the file. */
export function atTheEnd(work: () => Promise<void> | void): void {
  if (TestRunner.getCurrentTest() === undefined) afterAll(work)
  else onTestFinished(work)
}
