/** Reads and writes YAML in a worker thread: a file of 500 monitors takes a tenth of a second. */
import { answerTasks } from '../core/task-worker.ts'
import { readYaml, writeYaml } from './yaml-text.ts'
import type { YamlTask } from './yaml-thread.ts'

answerTasks((task: YamlTask) => ('read' in task ? readYaml(task.read) : writeYaml(task.write)))
