"""How long `set` takes beside the Python tool: VBOT=/path/to/vbot python bench_cloud.py [runs]

Both store 1, 10 and 50 keys in one stand-in of the API that takes 50 ms for each request, in turn.
Machines differ and are noisy: the ratio of two medians from one run counts.
"""

import statistics
import sys
import time

from cloud_api import CloudAPI, pipecat

DELAY = 0.05


def main(runs: int) -> None:
    pipecat()  # installs it, which is not what is measured
    with CloudAPI(DELAY) as api:
        print(f"{'keys':>4}  {'vbot':>16}  {'pipecat cloud':>18}  {'ratio':>6}")
        for n in (1, 10, 50):
            pairs = [f"KEY_{i}=value" for i in range(n)]
            took: dict[str, list[float]] = {"ours": [], "theirs": []}
            requests: dict[str, int] = {}
            for _ in range(runs):
                for name, run in (("ours", api.vbot), ("theirs", api.pipecat)):
                    api.sets.clear()
                    api.take()
                    began = time.perf_counter()
                    run("set", "app", *pairs, "--skip")
                    took[name].append(time.perf_counter() - began)
                    requests[name] = len(api.take())
                    assert len(api.sets["app"].values) == n
            ours, theirs = (statistics.median(took[name]) for name in ("ours", "theirs"))
            print(
                f"{n:>4}  {ours * 1000:>6.0f} ms, {requests['ours']:>2} req"
                f"  {theirs * 1000:>7.0f} ms, {requests['theirs']:>3} req  {theirs / ours:>5.1f}x"
            )


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 5)
