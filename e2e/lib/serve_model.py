"""llama.cpp's server with a model, until it is stopped: serve_model.py WEIGHTS TEMPLATE PORT

It runs where xllamacpp is, which has the server.
"""

import os
import sys
import threading
from pathlib import Path

import xllamacpp

weights, template, port = sys.argv[1:]
params = xllamacpp.CommonParams()
params.model.path = weights
params.chat_template = Path(template).read_text()
params.port = int(port)
params.offline = True
params.ui = False
params.n_parallel = 2  # people who are answered at the same time
params.n_ctx = 2 * 2048  # what they share
params.n_predict = 200  # a small model may repeat itself for ever
params.sampling.temp = 0  # the same answer every time
# Its threads wait for each other without sleeping, and the bot listens and speaks meanwhile.
threads = max(1, (os.cpu_count() or 1) - 1)
params.cpuparams.n_threads = params.cpuparams_batch.n_threads = threads
server = xllamacpp.Server(params)
threading.Event().wait()
