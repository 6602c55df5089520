"""llama.cpp's server with a model, until it is stopped.

serve_model.py WEIGHTS TEMPLATE PORT THREADS runs where xllamacpp is, which has the server.
"""

import sys
import threading
from pathlib import Path

import xllamacpp

weights, template, port, threads = sys.argv[1:]
params = xllamacpp.CommonParams()
params.model.path = weights
params.chat_template = Path(template).read_text()
params.port = int(port)
params.offline = True
params.ui = False
params.n_parallel = 1  # request at a time, and so many tokens: as Ollama starts it without a GPU
params.n_ctx = 4096
params.n_predict = 200  # a small model may repeat itself for ever
params.sampling.temp = 0  # the same answer every time
params.cpuparams.n_threads = params.cpuparams_batch.n_threads = int(threads)
server = xllamacpp.Server(params)
threading.Event().wait()
