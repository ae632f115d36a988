/** Runs tasks one after the other, in the order they came; more than `limit` waiting ones are not taken. */
export interface TaskQueue {
  /** False when so many wait already: the server tells again what matters. */
  add(task: () => Promise<void> | undefined, most?: number): boolean;
}

export function createTaskQueue(
  onError: (error: unknown) => void,
  /** Between two tasks, so that a flood of messages does not keep the heartbeats from going out. */
  rest: () => Promise<void>,
  limit = 256,
): TaskQueue {
  let tail: Promise<void> = Promise.resolve();
  let waiting = 0;
  return {
    add(task, most = limit) {
      if (waiting >= most) return false;
      waiting += 1;
      tail = tail
        .then(task)
        .catch(onError)
        .then(rest)
        .finally(() => {
          waiting -= 1;
        });
      return true;
    },
  };
}
