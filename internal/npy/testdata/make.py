"""Makes the arrays of this folder: 5 samples of 3 values, stored in several types."""
import numpy

x = numpy.array([[0, 1, -2.5], [3.25, 4, 5], [6, -7.125, 8], [9, 10, 11.5], [0.5, -0.25, 2048]])
for kind in "f2", "f4", "f8":
    numpy.save(f"{kind}.npy", x.astype("<" + kind))
numpy.save("big-endian-fortran.npy", numpy.asfortranarray(x.astype(">f4")))
for version in (2, 0), (3, 0):
    with open(f"version-{version[0]}.npy", "wb") as f:
        numpy.lib.format.write_array(f, x.astype("<f4"), version=version)
