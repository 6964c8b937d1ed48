//! `Spilling`: while it is open, large arrays of the core and of NumPy are files in a folder.
//!
//! NumPy takes an allocator for the arrays that are made in a context (`PyDataMem_SetHandler`, since 1.22); every array
//! keeps the one that it was made by. rust-numpy does not bind that function, so it is called by its place in NumPy's
//! table of functions, which is part of NumPy's binary interface.

use std::path::PathBuf;
use std::sync::{Mutex, PoisonError};

use pyo3::prelude::*;
use uncertain::memory::Spill;

/// Large arrays that are made on this thread are files, and so are large blocks of the core, until it is closed.
#[pyclass(frozen, module = "uncertain._uncertain")]
pub struct Spilling {
    open: Mutex<Option<(Spill, Py<PyAny>)>>,
}

#[pymethods]
impl Spilling {
    #[new]
    fn new(py: Python<'_>, folder: PathBuf) -> PyResult<Self> {
        let before = handler::set(py, None)?;
        Ok(Self { open: Mutex::new(Some((Spill::to(&folder), before))) })
    }

    /// New ones are memory again; those that are files stay where they are.
    fn close(&self, py: Python<'_>) -> PyResult<()> {
        let open = self.open.lock().unwrap_or_else(PoisonError::into_inner).take();
        if let Some((_, before)) = open {
            handler::set(py, Some(before))?;
        }
        Ok(())
    }

    /// Is there such a thing on this system?
    #[staticmethod]
    fn works() -> bool {
        cfg!(target_os = "linux")
    }
}

#[cfg(target_os = "linux")]
mod handler {
    use std::ffi::{CStr, c_char, c_void};

    use pyo3::prelude::*;
    use pyo3::types::PyCapsule;
    use uncertain::memory::malloc;

    /// `PyDataMem_Handler` of NumPy.
    #[repr(C)]
    struct Handler {
        name: [c_char; 127],
        version: u8,
        context: *mut c_void,
        malloc: unsafe extern "C" fn(*mut c_void, usize) -> *mut c_void,
        calloc: unsafe extern "C" fn(*mut c_void, usize, usize) -> *mut c_void,
        realloc: unsafe extern "C" fn(*mut c_void, *mut c_void, usize) -> *mut c_void,
        free: unsafe extern "C" fn(*mut c_void, *mut c_void, usize),
    }

    // SAFETY: never written, and functions without a state.
    unsafe impl Sync for Handler {}

    const NAME: &[u8] = b"uncertain";

    static HANDLER: Handler = Handler {
        name: {
            let mut name = [0; 127];
            let mut k = 0;
            while k < NAME.len() {
                name[k] = NAME[k] as c_char;
                k += 1;
            }
            name
        },
        version: 1,
        context: std::ptr::null_mut(),
        malloc: malloc::malloc,
        calloc: malloc::calloc,
        realloc: malloc::realloc,
        free: malloc::free,
    };

    /// The name that NumPy gives the capsule of a handler.
    const CAPSULE: &CStr = c"mem_handler";
    /// The place of `PyDataMem_SetHandler` in the table of functions.
    const SET_HANDLER: usize = 304;

    type SetHandler = unsafe extern "C" fn(*mut pyo3::ffi::PyObject) -> *mut pyo3::ffi::PyObject;

    /// This handler for new arrays of the present context, ours where it is `None`; the one before.
    pub(super) fn set(py: Python<'_>, handler: Option<Py<PyAny>>) -> PyResult<Py<PyAny>> {
        let own = || -> PyResult<Py<PyAny>> {
            let start = std::ptr::from_ref(&HANDLER).cast_mut().cast::<c_void>();
            // SAFETY: a static that outlives every array; the name, too, is one.
            let capsule = unsafe { pyo3::ffi::PyCapsule_New(start, CAPSULE.as_ptr(), None) };
            // SAFETY: a new reference, or null with an exception set.
            unsafe { Bound::from_owned_ptr_or_err(py, capsule) }.map(Bound::unbind)
        };
        let handler = handler.map_or_else(own, Ok)?;
        let module = py.import("numpy._core.multiarray").or_else(|_| py.import("numpy.core.multiarray"))?;
        let table = module.getattr("_ARRAY_API")?.cast_into::<PyCapsule>()?;
        // SAFETY: NumPy's capsule holds its table of functions, in which this one stands at this place since 1.22; it
        // returns a new reference, or null with an exception set.
        unsafe {
            let table = pyo3::ffi::PyCapsule_GetPointer(table.as_ptr(), std::ptr::null()).cast::<*const c_void>();
            let set: SetHandler = std::mem::transmute(*table.add(SET_HANDLER));
            Bound::from_owned_ptr_or_err(py, set(handler.as_ptr())).map(Bound::unbind)
        }
    }
}

#[cfg(not(target_os = "linux"))]
mod handler {
    use pyo3::prelude::*;

    pub(super) fn set(py: Python<'_>, _: Option<Py<PyAny>>) -> PyResult<Py<PyAny>> {
        Ok(py.None())
    }
}
